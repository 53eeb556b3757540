import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDiskMap, type DiskMap } from '../../../../src/lib/files/disk-map.ts'
import { createTestFolder } from '../../../support/stores/test-folder.ts'

describe('a map on disk', () => {
  let map: DiskMap<unknown>
  beforeEach(() => {
    map = createDiskMap()
  })
  afterEach(() => map.close())

  it('returns the last value of a key, and undefined without one', () => {
    map.set('ord_1', { version: 1 })
    map.set('ord_2', null)
    map.set('ord_1', { version: 2, accountIds: ['acc_1'] })
    expect(map.get('ord_1')).toEqual({ version: 2, accountIds: ['acc_1'] })
    expect(map.get('ord_2')).toBeNull()
    expect(map.get('ord_3')).toBeUndefined()
  })

  it('keeps apart keys that differ in case, in a final space, or in their accents only', () => {
    const keys = ['a', 'A', 'a ', 'á', 'a\u0301', '']
    for (const key of keys) map.set(key, key)
    expect(keys.map((key) => map.get(key))).toEqual(keys)
    expect(map.size()).toBe(keys.length)
  })

  it('returns all values in the order in which their keys were added', () => {
    for (const key of ['c', 'a', 'b']) map.set(key, key)
    map.set('c', 'changed')
    expect([...map.values()]).toEqual(['changed', 'a', 'b'])
    expect(map.size()).toBe(3)
  })

  it('is empty at first, and shares nothing with another map', () => {
    const other = createDiskMap()
    other.set('ord_1', 1)
    expect([map.size(), [...map.values()], map.get('ord_1')]).toEqual([0, [], undefined])
    other.close()
  })
})

describe('a map beyond its memory', () => {
  let folder: string
  beforeEach(() => {
    folder = createTestFolder()
  })

  /** Adds 2 MB in a process whose files may have `maxBlocks` of 512 bytes; returns its output. */
  function fill(maxBlocks: number | 'unlimited'): string {
    const script = `
      import { createDiskMap } from ${JSON.stringify(new URL('../../../../src/lib/files/disk-map.ts', import.meta.url).href)}
      const map = createDiskMap(100)
      const text = 'x'.repeat(1_000)
      try {
        for (let n = 0; n < 2_000; n++) map.set('ord_' + n, n + text)
        console.log(map.get('ord_0').slice(0, 3), map.get('ord_1999').slice(0, 6), map.size())
      } catch ({ message }) {
        console.log(message)
      }`
    const command = `ulimit -f ${maxBlocks}; exec "$0" --input-type=module -e "$1"`
    const env = { ...process.env, SQLITE_TMPDIR: folder }
    const { stdout, stderr } = spawnSync('sh', ['-c', command, process.execPath, script], { env })
    return `${stdout}${stderr}`
  }

  it('holds more entries than its memory, and leaves no file', () => {
    expect(fill('unlimited')).toBe('0xx 1999xx 2000\n')
    expect(readdirSync(folder)).toEqual([])
  })

  it('writes a temporary file, and says how to get more space when it cannot grow', () => {
    expect(fill(1_000)).toMatch(
      /^cannot use a temporary file: .+\. Set TMPDIR to a folder on a disk with more space\n$/,
    )
  })
})
