/** The same question for other clients. */
export function snippets({ model, question, seed, temperature, base, needsKey }) {
  const fields = { model, messages: [{ role: 'user', content: question }], seed, temperature }
  const json = JSON.stringify(fields, undefined, 2)
  const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`
  const key = needsKey ? ` \\\n  -H "Authorization: Bearer $KEY"` : ''
  const python = [
    `    model=${JSON.stringify(model)},`,
    `    messages=[{"role": "user", "content": ${JSON.stringify(question)}}],`,
    `    seed=${seed},`,
    ...(temperature === undefined ? [] : [`    temperature=${temperature},`]),
  ]
  const secret = needsKey ? 'os.environ["KEY"]' : '"none"'
  return [
    [
      'curl',
      `curl ${base}/chat/completions -H 'Content-Type: application/json'${key} \\\n  -d ${shell(json)}`,
    ],
    [
      'Python',
      [
        ...(needsKey ? ['import os', ''] : []),
        'from openai import OpenAI',
        '',
        `client = OpenAI(base_url=${JSON.stringify(base)}, api_key=${secret})`,
        'completion = client.chat.completions.create(',
        ...python,
        ')',
        'print(completion.choices[0].message.content)',
      ].join('\n'),
    ],
    [
      'JavaScript',
      [
        "import OpenAI from 'openai'",
        '',
        `const client = new OpenAI({ baseURL: ${JSON.stringify(base)}, apiKey: ${needsKey ? 'process.env.KEY' : "'none'"} })`,
        `const completion = await client.chat.completions.create(${json})`,
        'console.log(completion.choices[0].message.content)',
      ].join('\n'),
    ],
  ]
}
