import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'

export interface BlockingResponse {
  status: number
  headers: Record<string, string | undefined>
  body: string
}

/** Runs in a worker thread, so that the calling thread can block until the response arrives. */
const ASKER = `
  const { parentPort } = require('node:worker_threads')
  parentPort.on('message', async ({ url, headers, port, flag }) => {
    try {
      const response = await fetch(url, { headers, redirect: 'manual' })
      const body = await response.text()
      port.postMessage({ status: response.status, headers: Object.fromEntries(response.headers), body })
    } catch (error) {
      port.postMessage({ failed: String(error.cause ?? error) })
    }
    Atomics.store(flag, 0, 1)
    Atomics.notify(flag, 0)
  })`

/** A blocking `fetch` for languages with blocking calls; never use it on a serving thread. */
export function openBlockingFetch() {
  const worker = new Worker(ASKER, { eval: true })
  worker.unref()

  return {
    /** @throws Error without a response */
    fetch(url: string, headers: Record<string, string>): BlockingResponse {
      const { port1, port2 } = new MessageChannel()
      const flag = new Int32Array(new SharedArrayBuffer(4))
      worker.postMessage({ url, headers, port: port2, flag }, [port2])
      Atomics.wait(flag, 0, 0)
      const { message } = receiveMessageOnPort(port1) as {
        message: BlockingResponse | { failed: string }
      }
      port1.close()
      if ('failed' in message) throw new Error(message.failed)
      return message
    },
    close: () => worker.terminate(),
  }
}
