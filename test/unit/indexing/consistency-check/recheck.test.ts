import { beforeEach, describe, expect, it } from 'vitest'
import { createRecheck, type Recheck } from '../../../../src/indexing/consistency-check/recheck.ts'

let paused: number
let recheck: Recheck
beforeEach(() => {
  paused = 0
  recheck = createRecheck(async (ms) => {
    paused += ms
  })
})

/** A check that clears its candidates at this call. */
const untilCheck = (times: number) => {
  let checks = 0
  return async (left: readonly string[]) => (++checks < times ? left : [])
}

describe('the recheck of candidates', () => {
  it('the recheck waits for a second', async () => {
    expect(await recheck(['a'], untilCheck(1))).toEqual([])
    expect(paused).toBe(1_000)
  })

  it('the recheck repeats up to three times', async () => {
    expect(await recheck(['a'], untilCheck(3))).toEqual([])
    expect(await recheck(['a'], untilCheck(4))).toEqual(['a'])
  })

  it('the recheck passes only the remaining candidates', async () => {
    const checked: string[][] = []
    await recheck(['a', 'b', 'c'], async (left) => {
      checked.push([...left])
      return left.slice(1)
    })
    expect(checked).toEqual([['a', 'b', 'c'], ['b', 'c'], ['c']])
  })

  it('the recheck runs once after an earlier one cleared nothing', async () => {
    await recheck(['a'], untilCheck(99))
    paused = 0
    expect(await recheck(['b'], untilCheck(2))).toEqual(['b'])
    expect(paused).toBe(1_000)
  })

  it('the recheck runs three times again after one cleared something', async () => {
    await recheck(['a'], untilCheck(99))
    await recheck(['b'], untilCheck(1))
    expect(await recheck(['c'], untilCheck(3))).toEqual([])
  })

  it('the recheck without candidates does not wait', async () => {
    expect(await recheck([], untilCheck(99))).toEqual([])
    expect(paused).toBe(0)
  })
})
