import { describe, expect, it } from 'vitest'
import { allocateOwned, freeOwned, joinOwned } from '../../../src/lib/owned-bytes.ts'

const PARTS = [Buffer.from('ab'), Buffer.alloc(0), new Uint8Array([99])]

describe('owned bytes', () => {
  it('share their buffer with no others, however few they are', () => {
    for (const bytes of [allocateOwned(3), joinOwned(PARTS)]) {
      expect(bytes.buffer.byteLength).toBe(3)
    }
  })

  it('are the parts one after another', () => {
    expect(joinOwned(PARTS).toString()).toBe('abc')
    expect(joinOwned([])).toHaveLength(0)
  })

  it('are empty after they were freed, as is every view of them', () => {
    const bytes = joinOwned(PARTS)
    const view = bytes.subarray(1)
    freeOwned(bytes)
    expect([bytes.length, view.length]).toEqual([0, 0])
    expect(PARTS[0]?.toString()).toBe('ab')
  })
})
