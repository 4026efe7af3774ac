/** Where a model can be deployed, and in which form each of them takes the weights. */
export const deployTargets = {
  ollama: { title: 'Ollama', weights: 'gguf' },
  'llama-server': { title: 'llama-server', weights: 'gguf' },
  vllm: { title: 'vLLM', weights: 'folder' },
  sglang: { title: 'SGLang', weights: 'folder' },
  transformers: { title: 'transformers', weights: 'folder' },
  browser: { title: 'a browser', weights: 'onnx' },
} as const satisfies Record<string, { title: string; weights: 'gguf' | 'folder' | 'onnx' }>

export type DeployTarget = keyof typeof deployTargets
