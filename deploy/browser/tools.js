/** The tools by tag. `code` runs Python in a worker, so that a program that hangs can be stopped. */
const seconds = 20
let worker

export const tools = {
  code: (body) => run(/```\w*\n([\s\S]*?)\n?```/.exec(body)?.[1] ?? body),
}

function run(program) {
  worker ??= new Worker(new URL('python-worker.js', import.meta.url), { type: 'module' })
  return new Promise((resolve) => {
    const stop = setTimeout(() => {
      worker.terminate()
      worker = undefined
      resolve('The program ran too long and was stopped.')
    }, seconds * 1000)
    worker.onmessage = ({ data }) => {
      clearTimeout(stop)
      resolve(data)
    }
    worker.onerror = ({ message }) => {
      clearTimeout(stop)
      worker.terminate()
      worker = undefined
      resolve(`The program could not be run: ${message}`)
    }
    worker.postMessage(program)
  })
}
