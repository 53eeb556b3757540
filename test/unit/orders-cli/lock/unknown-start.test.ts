import fs, { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { acquireLock } from '../../../../src/orders-cli/lock/lock.ts'
import { hostMark, startOf } from '../../../../src/orders-cli/lock/process-identity.ts'
import { createTestFolder } from '../../../support/stores/test-folder.ts'

let folder: string
let renewals: NodeJS.Timeout | undefined
beforeEach(() => {
  folder = createTestFolder()
  hideProcessTable()
})
afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
  clearInterval(renewals)
})

/** As on macOS and Windows, which have no /proc. */
function hideProcessTable(): void {
  const read = readFileSync
  vi.spyOn(fs, 'readFileSync').mockImplementation((path, options) => {
    if (`${path}`.startsWith('/proc/')) throw new Error('ENOENT')
    return read(path, options)
  })
  syncBuiltinESMExports()
}

const prefix = () => join(folder, 'pedidos.csv.lock-')

/** The lock of a process that was killed, whose pid is that of another one by now. */
function lockOf(pid: number, ageSeconds = 0): string {
  const file = `${prefix()}${pid}-${startOf(pid)}-${hostMark()}`
  writeFileSync(file, '')
  const renewedAt = Date.now() / 1000 - ageSeconds
  utimesSync(file, renewedAt, renewedAt)
  return file
}

describe('a lock on a system that does not report when a process started', () => {
  it('a lock without the start of its process is removed after a minute without a renewal', async () => {
    expect(lockOf(process.ppid, 61)).toContain('-alive-')
    await (await acquireLock(prefix(), 'busy')).release()
    expect(readdirSync(folder)).toEqual([])
  })

  it('a lock without the start of its process is kept once it is renewed, and its file is named', async () => {
    const file = lockOf(process.ppid)
    renewals = setInterval(() => writeFileSync(file, '.'), 700)
    await expect(acquireLock(prefix(), 'busy')).rejects.toThrow(
      `busy (Parece ser o processo ${process.ppid}: acaba de renovar ${file}.)`,
    )
    expect(readdirSync(folder)).toHaveLength(1)
  })

  it('a lock of a process whose start another user cannot read is not removed', async () => {
    const file = `${prefix()}${process.ppid}-12345-${hostMark()}`
    writeFileSync(file, '')
    renewals = setInterval(() => writeFileSync(file, '.'), 700)
    await expect(acquireLock(prefix(), 'busy')).rejects.toThrow(/Parece ser o processo/)
  })
})
