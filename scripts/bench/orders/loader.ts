import { type OpenSearch, write } from '../../../src/stores/opensearch/client/client.ts'

const BULK_DOCUMENTS = 1_000
const BULKS_UNDER_WAY = 4
const DEADLINE_MS = 120_000

export interface LoaderOptions {
  client: OpenSearch
  index: string
  signal: AbortSignal
}

/**
 * Fills an index as fast as it goes, several bulks at a time: no back-fill of the service, whose writer
 * sends one after the other. Throws when a document is not taken.
 */
export async function loadDocuments(
  lines: Iterator<string>,
  { client, index, signal }: LoaderOptions,
): Promise<void> {
  async function sendUntilDone(): Promise<void> {
    for (let body = nextBulk(lines); body !== ''; body = nextBulk(lines)) {
      signal.throwIfAborted()
      const answer = await write(DEADLINE_MS, (options) =>
        client.bulk({ index, body: Buffer.from(body) as never }, options),
      )
      if (answer.errors !== false) throw new Error(`${index} did not take every document`)
    }
  }

  await Promise.all(Array.from({ length: BULKS_UNDER_WAY }, sendUntilDone))
}

function nextBulk(lines: Iterator<string>): string {
  let body = ''
  for (let count = 0; count < BULK_DOCUMENTS; count += 1) {
    const { value, done } = lines.next()
    if (done) break
    body += value
  }
  return body
}
