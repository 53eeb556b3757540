import { hash } from 'node:crypto'
import { once } from 'node:events'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { gzipSync } from 'node:zlib'
import Fastify from 'fastify'

/** The script that renders the API reference. */
export interface DocsScript {
  /** Contains a hash of the content, so that clients can cache it forever. */
  name: string
  /** The only stored form: uncompressed, the script has 4 MB. */
  gzipped: Buffer
}

const WORKER_TASK = 'extract the script of the API reference'

/**
 * Extracts the script from its package when the page is first opened, in a worker thread: importing
 * the 4 MB module blocks the event loop for 250 ms, and compressing the script as long again.
 */
export async function loadDocsScript(): Promise<DocsScript> {
  const worker = new Worker(new URL(import.meta.url), { workerData: WORKER_TASK })
  const [{ name, gzipped }] = (await once(worker, 'message')) as [
    { name: string; gzipped: Uint8Array },
  ]
  return { name, gzipped: Buffer.from(gzipped) }
}

async function extractScript(): Promise<{ name: string; gzipped: Uint8Array }> {
  const { default: reference } = await import('@scalar/fastify-api-reference')
  const app = Fastify()
  await app.register(reference, { routePrefix: '/x', configuration: { url: '/' } })
  const { statusCode, rawPayload } = await app.inject('/x/js/scalar.js')
  if (statusCode !== 200)
    throw new Error(
      `cannot extract the script of the API reference: its package answered ${statusCode}. Reinstall @scalar/fastify-api-reference`,
    )
  return {
    name: `scalar-${hash('sha256', rawPayload, 'base64url').slice(0, 16)}.js`,
    gzipped: gzipSync(rawPayload),
  }
}

if (workerData === WORKER_TASK) parentPort?.postMessage(await extractScript())
