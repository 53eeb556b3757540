import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'

export interface BlockingAnswer {
  status: number
  headers: Record<string, string | undefined>
  body: string
}

/** Runs in a thread of its own, so that the one that asks can sleep until the answer is there. */
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

/** A `fetch` that blocks its thread, for languages whose calls do: not for the thread that serves. */
export function openBlockingFetch() {
  const worker = new Worker(ASKER, { eval: true })
  worker.unref()

  return {
    /** @throws Error without an answer */
    fetch(url: string, headers: Record<string, string>): BlockingAnswer {
      const { port1, port2 } = new MessageChannel()
      const flag = new Int32Array(new SharedArrayBuffer(4))
      worker.postMessage({ url, headers, port: port2, flag }, [port2])
      Atomics.wait(flag, 0, 0)
      const { message } = receiveMessageOnPort(port1) as {
        message: BlockingAnswer | { failed: string }
      }
      port1.close()
      if ('failed' in message) throw new Error(message.failed)
      return message
    },
    close: () => worker.terminate(),
  }
}
