import type { Generator, LoadRequest } from '../measuring/generator.ts'
import type { Case } from './cases.ts'

/** The ids of an answer's orders. */
export type ReadIds = (answer: Buffer) => string[]

export interface CheckOptions {
  generator: Generator
  /** One for each place of the case, in its order. */
  requests: readonly LoadRequest[]
  of: Pick<Case, 'name' | 'places'>
  /** How many orders are asked for. */
  size: number
  readIds: ReadIds
  signal: AbortSignal
}

const AT_A_TIME = 8

/** The ids in the answer to a search. */
export const searchIds: ReadIds = (answer) => {
  const { hits }: { hits: { hits: { _source: { id: string } }[] } } = JSON.parse(answer.toString())
  return hits.hits.map(({ _source }) => _source.id)
}

/** The ids in a page of the API. */
export const pageIds: ReadIds = (answer) => {
  const { data }: { data: { id: string }[] } = JSON.parse(answer.toString())
  return data.map(({ id }) => id)
}

/**
 * Asks for every page once and holds its orders against those that were loaded; from then on its length
 * tells whether it is whole. Warms up what is asked, too. Throws when a page is not as it should be.
 */
export async function checkAnswers(options: CheckOptions): Promise<LoadRequest[]> {
  const { generator, requests, of, size, readIds, signal } = options
  const checked: LoadRequest[] = []
  const waiting = requests.entries()

  async function checkUntilDone() {
    for (const [at, request] of waiting) {
      signal.throwIfAborted()
      const answer = await generator.ask(request)
      const ids = readIds(answer)
      const expected = of.places[at]?.following.slice(0, size) ?? []
      if (ids.length !== expected.length || ids.some((id, row) => id !== expected[row])) {
        throw new Error(`${of.name}: a page does not have the ${expected.length} orders it should`)
      }
      checked[at] = { ...request, expectedBytes: answer.length }
    }
  }

  await Promise.all(Array.from({ length: AT_A_TIME }, checkUntilDone))
  return checked
}
