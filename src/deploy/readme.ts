import { markdownTable } from '../base/text/index.ts'
import type { GgufReport } from '../engine/index.ts'
import type { Deployment } from './contract.ts'
import { type DeployTarget, deployTargets } from './targets.ts'

/** README.md of a deployed model: how to start it, how to ask it, and what is special about it. */
export function readme(parts: Deployment, gguf: GgufReport | undefined): string {
  const { target, name, grammar, report, stop } = parts
  const sections = [
    `# ${name} on ${deployTargets[target].title}`,
    `A chain-of-agents model (${report.shape.family}, ${(report.parameters / 1e6).toFixed(1)} M parameters, grammar \`${grammar.name}\`), written by \`coa deploy ${target}\`. The model plays every agent in one stream of text; when it closes the tag of a tool, the client runs the tool, appends the output and lets the model continue the same text.`,
    `## Start it\n\`\`\`sh\n${startCommands(parts)}\n\`\`\`${startNote(parts)}`,
    `## Ask it\n${askSection(parts, gguf)}`,
    toolsSection(parts),
    `## What the client does\n${[
      `It sends the text in \`coa.json\` around the question, and stops the model at ${stop.map((text) => `\`${text}\``).join(', ')}.`,
      'A tag inside another agent’s text is text: the client lets the model continue.',
      'Tool output is appended as text of the same stream, never as a chat message, which the server would put into its template.',
      'The temperature is 0, so that the same question gets the same answer. The model was trained at temperature 1.',
    ]
      .map((line) => `- ${line}`)
      .join('\n')}`,
    notesSection(parts, gguf),
    `## Files\n${markdownTable(['file', ''], fileRows(target, grammar.agents.has('code')))}`,
  ]
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`
}

function startCommands({ target, name, report }: Deployment): string {
  const { contextLength } = report.shape
  switch (target) {
    case 'ollama':
      return `ollama create ${name} -f Modelfile`
    case 'llama-server':
      return `llama-server -m model.gguf --alias ${name} -c ${contextLength} --jinja --chat-template-file chat-template.jinja --skip-chat-parsing --reasoning-format none --special --temp 1 --top-k 0 --top-p 1 --min-p 0 --repeat-penalty 1`
    case 'vllm':
      return `vllm serve model --served-model-name ${name} --max-model-len ${contextLength} --generation-config vllm`
    case 'sglang':
      return `python -m sglang.launch_server --model-path model --served-model-name ${name} --context-length ${contextLength}`
    case 'transformers':
      return 'pip install torch transformers'
    case 'browser':
      return 'python3 -m http.server 8000 --bind 127.0.0.1'
  }
}

function startNote({ target }: Deployment): string {
  if (target === 'llama-server')
    return '\n`-np N` serves N questions at the same time; multiply `-c` by N. The sampling options apply to requests that do not say otherwise.'
  if (target === 'vllm' || target === 'sglang')
    return `\nThese commands follow the documentation of ${deployTargets[target].title}; coa's tests do not run it.`
  if (target === 'browser')
    return '\nThen open http://127.0.0.1:8000. Any static file server works. With the headers `Cross-Origin-Opener-Policy: same-origin` and `Cross-Origin-Embedder-Policy: require-corp`, the model uses several threads.'
  if (target === 'ollama')
    return "\nOllama has been checked only against its documentation; coa's tests do not run it."
  return ''
}

function askSection({ target, name }: Deployment, gguf: GgufReport | undefined): string {
  if (target === 'browser')
    return 'Type a question and choose Solve. The first one with a program takes longer, because Python is loaded.'
  const needs = gguf?.separation === undefined ? '' : 'pip install regex\n'
  const python = `\`\`\`sh\n${target === 'transformers' ? '' : needs}python client.py "QUESTION"\n\`\`\``
  if (target === 'transformers') return python
  const bare =
    target === 'ollama'
      ? `\n\n\`ollama run ${name}\` shows only the first part of a chain: Ollama stops at the first tool call and does not run it.`
      : ''
  return `\`\`\`sh\nnode client.ts "QUESTION"     # Node 22.18 or newer\n${needs}python client.py "QUESTION"\n\`\`\`\nThe answer goes to standard output and the chain to standard error. A second argument is the server's URL.${bare}`
}

function toolsSection({ target, grammar, missingTools }: Deployment): string {
  const file =
    target === 'browser'
      ? '`tools.js`'
      : target === 'transformers'
        ? '`tools.py`'
        : '`tools.ts` and `tools.py`'
  const code = !grammar.agents.has('code')
    ? []
    : target === 'browser'
      ? ['`code` runs Python in a web worker of the page.']
      : [
          `\`code\` runs Python programs that the model writes, with your rights and no limits but time. For anything that matters, change the command in ${file} to a container, such as \`docker run -i --rm --network none python:3.13-slim python -I -\`.`,
        ]
  const missing =
    missingTools.length === 0
      ? []
      : [
          `${missingTools.map((tag) => `\`${tag}\``).join(', ')}: add your own to ${file}. Until then the model reads that the tool is not available.`,
        ]
  const lines = [...code, ...missing]
  return lines.length === 0 ? '' : `## Tools\n${lines.map((line) => `- ${line}`).join('\n')}`
}

function notesSection({ target, name }: Deployment, gguf: GgufReport | undefined): string {
  const notes: string[] = []
  if (gguf?.separation !== undefined)
    notes.push(
      "llama.cpp has a fixed list of patterns that split text into words, and this tokenizer's is not among them. The clients therefore send the control character U+001F after each word; llama.cpp drops it, and the tokens are exactly those of training. Plain text, as in a chat window, is split differently, and the model answers worse.",
    )
  if (gguf !== undefined && gguf.widened.length > 0)
    notes.push(
      `${gguf.widened.length} tensors have more bits than ${gguf.type} plans for them, because their rows do not divide into its blocks, as in llama.cpp: ${Object.entries(
        gguf.types,
      )
        .map(([type, count]) => `${count} ${type}`)
        .join(', ')}.`,
    )
  if (target === 'llama-server')
    notes.push(
      `\`coa solve "QUESTION" --model http://127.0.0.1:8080 --tokenizer CHECKPOINT\` uses the same server with coa's own tools.`,
    )
  if (target === 'vllm' || target === 'sglang')
    notes.push(
      `The model folder is in the Hugging Face layout. \`${name}\` is its name in requests. The client continues text, so a chain is tokenized again with every request.`,
    )
  if (target === 'browser')
    notes.push(
      'Each token recomputes the whole text, which is fast enough for models of a few million parameters.',
    )
  return notes.length === 0 ? '' : `## Notes\n${notes.map((note) => `- ${note}`).join('\n')}`
}

function fileRows(target: DeployTarget, python: boolean): string[][] {
  const weights: Record<'gguf' | 'folder' | 'onnx', string[][]> = {
    gguf: [['`model.gguf`', 'weights and tokenizer']],
    folder: [['`model/`', 'weights and tokenizer in the Hugging Face layout']],
    onnx: [
      ['`model.onnx`, `model.onnx.json`', 'weights, and what goes in and out'],
      ['`tokenizer.json`', 'the tokenizer'],
    ],
  }
  const page = [
    ['`index.html`, `page.js`, `style.css`', 'the page'],
    ['`loop.js`', 'the tool loop'],
    ['`server.js`, `tokenizer.js`, `ort/`', 'the model: onnxruntime-web and the tokenizer'],
    ['`tools.js`', 'the tools'],
    ...(python ? [['`python-worker.js`, `pyodide/`', 'Python']] : []),
  ]
  const clients = [
    ...(target === 'transformers'
      ? []
      : [['`client.ts`, `loop.ts`, `server.ts`, `tools.ts`', 'the client in TypeScript']]),
    ['`client.py`, `server.py`, `tools.py`', 'the client in Python'],
  ]
  return [
    ...weights[deployTargets[target].weights],
    ['`coa.json`', 'prompt, tags, stop strings and limits, as the clients read them'],
    ...(target === 'ollama'
      ? [['`Modelfile`', 'template, stop strings and sampling parameters for Ollama']]
      : []),
    ...(target === 'llama-server' || target === 'vllm' || target === 'sglang'
      ? [['`chat-template.jinja`', "the model's chat template"]]
      : []),
    ...(target === 'browser' ? page : clients),
  ]
}
