import { beforeEach, expect, it } from 'vitest'
import { formatInstant } from '../../../../src/lib/instant.ts'
import { startWriter, type Version } from '../../../support/orders/order-writer.ts'

let { index, live, history, rewrite, updatedAt }: ReturnType<typeof startWriter> = startWriter()
beforeEach(() => {
  ;({ index, live, history, rewrite, updatedAt } = startWriter())
})

const SHARED: Version = { coproducer_account_ids: ['acc_2'] }
const document = (accountId = 'acc_1') => index.document(accountId, 'ord_1')

it('a rewrite dates every document of an equal version with the write timestamp', async () => {
  await history(1, SHARED)
  expect(await rewrite(1, SHARED)).toBe('written')
  const writtenAt = formatInstant(index.lastWriteTimestamp)
  expect([updatedAt('acc_1'), updatedAt('acc_2')]).toEqual([writtenAt, writtenAt])
})

it('a rewrite of an equal version announces nothing', async () => {
  index.subscribed.add('acc_1')
  await history(1)
  expect([await rewrite(1), index.events]).toEqual(['written', []])
})

it('a rewrite keeps a document without a date, because its write timestamp sorts it', async () => {
  await history(1, { changed_at: null })
  const before = document()
  expect(await rewrite(1, { changed_at: null })).toBe('older')
  expect(document()).toBe(before)
})

it('a rewrite keeps what a newer version wrote', async () => {
  await live(2)
  const before = document()
  expect(await rewrite(1)).toBe('older')
  expect(document()).toBe(before)
})

it('a rewrite leaves a deleted order deleted', async () => {
  await history(1)
  await live(2, { deleted: true })
  expect(await rewrite(2, { deleted: true })).toBe('older')
  expect(await rewrite(1)).toBe('older')
  expect(index.keys()).toEqual([])
})
