import { describe, expect, it } from 'vitest'
import { copyDifferences } from '../../../../src/stores/opensearch/reindex/copy-documents.ts'
import { useTwoIndices } from './two-indices.ts'

const indices = useTwoIndices()
const copy = () => copyDifferences({ ...indices.options, dualSinceMs: 9, onPage() {} })
const document = (order: string, writtenKey: number) => ({ account: 'a', order, writtenKey })

describe('a comparison of the backfill', () => {
  it('reads no document of equal indices by id', async () => {
    await indices.store('from', [document('one', 1), document('two', 2)])
    await indices.store('to', [document('one', 1), document('two', 2)])
    expect(await copy()).toEqual({ copied: 0, remaining: 0, removed: 0 })
    expect([await indices.gets('from'), await indices.gets('to')]).toEqual([0, 0])
  })

  it('removes a document that the live index lacks', async () => {
    await indices.store('from', [document('newest', 9)])
    await indices.store('to', [document('extra', 3), document('newest', 9)])
    expect(await copy()).toEqual({ copied: 0, remaining: 0, removed: 1 })
    expect(await indices.ids('to')).toEqual(['a:newest'])
  })

  it('keeps a document that is newer than all of the live index', async () => {
    await indices.store('from', [document('newest', 9)])
    await indices.store('to', [document('about-to-appear', 10), document('newest', 9)])
    expect(await copy()).toEqual({ copied: 0, remaining: 0, removed: 0 })
    expect(await indices.ids('to')).toEqual(['a:about-to-appear', 'a:newest'])
  })

  it('keeps a document that was written to both since, although the live index seems to lack it', async () => {
    await indices.store('from', [document('newest', 9), document('since', 20)])
    await indices.store('to', [
      document('newest', 9),
      document('since', 20),
      document('unseen', 12),
    ])
    expect(await copy()).toEqual({ copied: 0, remaining: 0, removed: 0 })
    expect(await indices.ids('to')).toEqual(['a:newest', 'a:since', 'a:unseen'])
  })

  it('keeps a document that the live index has, before it is searchable', async () => {
    await indices.store('from', [document('newest', 9)])
    await indices.store('from', [document('unsearchable', 3)], false)
    await indices.store('to', [document('newest', 9), document('unsearchable', 3)])
    expect(await copy()).toEqual({ copied: 0, remaining: 0, removed: 0 })
    expect(await indices.ids('to')).toEqual(['a:newest', 'a:unsearchable'])
  })
})
