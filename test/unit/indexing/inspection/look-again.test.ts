import { beforeEach, describe, expect, it } from 'vitest'
import { createLookAgain, type LookAgain } from '../../../../src/indexing/inspection/look-again.ts'

let paused: number
let lookAgain: LookAgain
beforeEach(() => {
  paused = 0
  lookAgain = createLookAgain(async (ms) => {
    paused += ms
  })
})

/** What is wrong until it was looked at so often. */
const untilLook = (times: number) => {
  let looks = 0
  return async (left: readonly string[]) => (++looks < times ? left : [])
}

describe('what looked wrong', () => {
  it('is looked at again after a second', async () => {
    expect(await lookAgain(['a'], untilLook(1))).toEqual([])
    expect(paused).toBe(1_000)
  })

  it('is looked at three times', async () => {
    expect(await lookAgain(['a'], untilLook(3))).toEqual([])
    expect(await lookAgain(['a'], untilLook(4))).toEqual(['a'])
  })

  it('is looked at alone', async () => {
    const seen: string[][] = []
    await lookAgain(['a', 'b', 'c'], async (left) => {
      seen.push([...left])
      return left.slice(1)
    })
    expect(seen).toEqual([['a', 'b', 'c'], ['b', 'c'], ['c']])
  })

  it('is looked at once, after a time when nothing was cleared', async () => {
    await lookAgain(['a'], untilLook(99))
    paused = 0
    expect(await lookAgain(['b'], untilLook(2))).toEqual(['b'])
    expect(paused).toBe(1_000)
  })

  it('is looked at three times again, once something was cleared', async () => {
    await lookAgain(['a'], untilLook(99))
    await lookAgain(['b'], untilLook(1))
    expect(await lookAgain(['c'], untilLook(3))).toEqual([])
  })

  it('costs nothing where there is none', async () => {
    expect(await lookAgain([], untilLook(99))).toEqual([])
    expect(paused).toBe(0)
  })
})
