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

/** What is wrong until it was looked at so often. */
const untilCheck = (times: number) => {
  let checks = 0
  return async (left: readonly string[]) => (++checks < times ? left : [])
}

describe('what looked wrong', () => {
  it('is looked at again after a second', async () => {
    expect(await recheck(['a'], untilCheck(1))).toEqual([])
    expect(paused).toBe(1_000)
  })

  it('is looked at three times', async () => {
    expect(await recheck(['a'], untilCheck(3))).toEqual([])
    expect(await recheck(['a'], untilCheck(4))).toEqual(['a'])
  })

  it('is looked at alone', async () => {
    const checked: string[][] = []
    await recheck(['a', 'b', 'c'], async (left) => {
      checked.push([...left])
      return left.slice(1)
    })
    expect(checked).toEqual([['a', 'b', 'c'], ['b', 'c'], ['c']])
  })

  it('is looked at once, after a time when nothing was cleared', async () => {
    await recheck(['a'], untilCheck(99))
    paused = 0
    expect(await recheck(['b'], untilCheck(2))).toEqual(['b'])
    expect(paused).toBe(1_000)
  })

  it('is looked at three times again, once something was cleared', async () => {
    await recheck(['a'], untilCheck(99))
    await recheck(['b'], untilCheck(1))
    expect(await recheck(['c'], untilCheck(3))).toEqual([])
  })

  it('costs nothing where there is none', async () => {
    expect(await recheck([], untilCheck(99))).toEqual([])
    expect(paused).toBe(0)
  })
})
