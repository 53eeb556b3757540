import { spawnSync } from 'node:child_process'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import type { WriterPurpose } from '../../../../../src/indexing/writer/order-index.ts'
import { WatchRunningError } from '../../../../../src/indexing/writer/writer-errors.ts'
import { acquireWriterLock } from '../../../../../src/stores/sqlite/write/writer-lock.ts'
import { createTestFolder } from '../../../../support/stores/test-folder.ts'

let file: string
let delays: string[]
beforeEach(() => {
  file = join(createTestFolder(), 'watch.lock')
  delays = []
})

const acquire = (purpose: WriterPurpose, signal?: AbortSignal) =>
  acquireWriterLock(file, { purpose, onDelay: (reason) => delays.push(reason), signal })

const LOAD = '"index load", or "serve" for pushed orders,'
it.each<[WriterPurpose, WriterPurpose, string]>([
  ['watch', 'watch', '"index watch"'],
  ['load', 'watch', LOAD],
  ['load', 'load', LOAD],
])('next to a %s, a %s waits and reports the reason', async (one, other, holder) => {
  const first = await acquire(one)
  let isHeld = false
  const second = acquire(other).then((lock) => {
    isHeld = true
    return lock
  })
  await expect.poll(() => delays).toHaveLength(1)
  expect(isHeld).toBe(false)
  first.release()
  ;(await second).release()
  expect(delays).toEqual([`waiting for another ${holder} on the same DATA_DIR to end`])
})

it('the writer lock rejects a load next to a watch', async () => {
  const watch = await acquire('watch')
  await expect(acquire('load')).rejects.toThrow(WatchRunningError)
  expect(delays).toEqual([])
  watch.release()
  ;(await acquire('load')).release()
})

it('a waiting load is rejected once a watch acquires the lock', async () => {
  const first = await acquire('load')
  const watch = acquire('watch')
  await expect.poll(() => delays).toHaveLength(1)
  first.release()
  const held = await watch
  await expect(acquire('load')).rejects.toThrow(WatchRunningError)
  held.release()
})

it('a second open of the file in the same process leaves the lock to its holder', async () => {
  const first = await acquire('load')
  const stopping = new AbortController()
  const second = acquire('load', stopping.signal)
  await expect.poll(() => delays).toHaveLength(1)
  const elsewhere = `const { DatabaseSync } = require('node:sqlite'); new DatabaseSync(${JSON.stringify(file)}, { timeout: 0 }).exec('BEGIN IMMEDIATE')`
  const { status, stderr } = spawnSync(process.execPath, ['-e', elsewhere], { encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('locked') })
  stopping.abort()
  await expect(second).rejects.toThrow('interrupted')
  first.release()
})

it('the writer lock reports nothing without a wait', async () => {
  ;(await acquire('watch')).release()
  ;(await acquire('load')).release()
  expect(delays).toEqual([])
})

it('the writer lock waits no longer than its limit', async () => {
  const first = await acquire('watch')
  const stopping = new AbortController()
  const second = acquire('watch', stopping.signal)
  stopping.abort()
  await expect(second).rejects.toThrow('interrupted while another writer was at work')
  first.release()
  ;(await acquire('watch')).release()
})

it('the writer lock reports a file of another kind', async () => {
  writeFileSync(file, 'no database'.repeat(100))
  await expect(acquire('watch')).rejects.toThrow('file is not a database')
})

it('the writer lock is unreadable for other users of the machine', async () => {
  const lock = await acquire('watch')
  expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
  lock.release()
})
