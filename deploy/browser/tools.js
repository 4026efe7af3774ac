/** The tools by tag. `code` runs Python in a worker, so that a program that hangs can be stopped. */
const seconds = 20
let python

export const tools = {
  code: async (body) => run(/```\w*\n([\s\S]*?)\n?```/.exec(body)?.[1] ?? body),
}

async function run(program) {
  python ??= startPython()
  const { worker, ready } = python
  try {
    // Loading takes longer than most programs, and is not their fault.
    await ready
    const answer = nextMessage(worker)
    worker.postMessage(program)
    const limit = setTimeout(
      () => worker.dispatchEvent(new ErrorEvent('error', { message: '' })),
      seconds * 1000,
    )
    return await answer.finally(() => clearTimeout(limit))
  } catch ({ message }) {
    worker.terminate()
    python = undefined
    return message === '' ? 'The program ran too long and was stopped.' : `Python failed: ${message}`
  }
}

function startPython() {
  const worker = new Worker(new URL('python-worker.js', import.meta.url), { type: 'module' })
  return { worker, ready: nextMessage(worker) }
}

function nextMessage(worker) {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data)
    worker.onerror = reject
  })
}
