import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../../../../src/lib/text/json.ts'
import { extractSources } from '../../../../../../src/stores/opensearch/client/documents/mget-sources.ts'

const before = { _index: 'orders-v1', _id: 'acc_1:ord_1', _version: 3, found: true }
const missing = { _index: 'orders-v1', _id: 'acc_1:ord_2', found: false }

/** The text of an `_mget` response with these sources; `undefined` is a missing document. */
const answerOf = (sources: readonly (string | undefined)[]) => {
  const docs = sources.map((source) => {
    if (source === undefined) return JSON.stringify(missing)
    return `${JSON.stringify(before).slice(0, -1)},"_source":${source}}`
  })
  return Buffer.from(`{"docs":[${docs.join(',')}]}`)
}

const cut = (answer: Buffer) => {
  const { envelope, sources } = extractSources(answer)
  return { rest: parseJson(envelope.toString()), sources: sources.map(String) }
}

describe('the sources of an mget response', () => {
  it('the sources are extracted byte for byte and numbered in the remaining response', () => {
    const names = fc.constantFrom('_source', 'docs', 'found', '"_source":{', '\\', '}]}', 'é')
    const source = fc
      .dictionary(names, fc.anything({ key: names, maxDepth: 3 }))
      .map((value) => JSON.stringify(value))
    fc.assert(
      fc.property(fc.array(fc.option(source, { nil: undefined })), (sources) => {
        const texts = sources.filter((text) => text !== undefined)
        let number = 0
        const docs = sources.map((text) => {
          return text === undefined ? missing : { ...before, _source: number++ }
        })
        expect(cut(answerOf(sources))).toEqual({ rest: { docs }, sources: texts })
      }),
    )
  })

  it('the sources keep their spaces and unnecessary escapes', () => {
    const source = '{ "order" : {"name":"\\u0041\\/\\"}","list":[ 1.50e2 ]}\t}'
    expect(cut(answerOf([source])).sources).toEqual([source])
  })

  it.each(['', '{', '{"docs":[{"_source":{"a', '{"docs":[{"_source":{"a\\', '{"docs":[{"_source"'])(
    'a truncated response has no sources: %s',
    (text) => {
      const { envelope, sources } = extractSources(Buffer.from(text))
      expect({ rest: envelope.toString(), sources }).toEqual({ rest: text, sources: [] })
    },
  )
})
