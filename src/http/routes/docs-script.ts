import { hash } from 'node:crypto'
import { once } from 'node:events'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { gzipSync } from 'node:zlib'
import Fastify from 'fastify'

/** The script that makes the page of the reference. */
export interface DocsScript {
  /** Changes with its content, so that it may be kept for ever. */
  name: string
  /** The only form that is kept and sent: plain it has 4 MB. */
  gzipped: Buffer
}

const WORKER_TASK = 'take the script of the reference out of its package'

/**
 * Takes the script out of the package that serves it, once somebody opens the page. In a thread of its own: the package
 * is a module of 4 MB with parsers beside it, and requests would wait a quarter of a second while it is imported, and as
 * long again while it is compressed.
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
  if (statusCode !== 200) throw new Error(`the package of the reference answers ${statusCode}`)
  return {
    name: `scalar-${hash('sha256', rawPayload, 'base64url').slice(0, 16)}.js`,
    gzipped: gzipSync(rawPayload),
  }
}

if (workerData === WORKER_TASK) parentPort?.postMessage(await extractScript())
