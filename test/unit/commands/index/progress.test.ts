import { describe, expect, it } from 'vitest'
import { createProgress } from '../../../../src/commands/index/progress.ts'

const WIPE = '\r\x1b[K'

/** Progress over an input of so many bytes, with a clock and an input that stand still until told. */
function start({ isTTY = true, columns = 80, totalBytes = 10_000 as number | null } = {}) {
  const written: string[] = []
  const now = { ms: 5_000, bytes: 0 }
  const screen = { isTTY, columns, write: (text: string) => written.push(text) }
  const input = { bytesRead: () => now.bytes, totalBytes }
  const progress = createProgress(screen, input, () => now.ms)
  return {
    ...progress,
    written,
    /** Some time later, so much is read. */
    later(ms: number, bytes: number, read: number, refused = 0) {
      now.ms += ms
      now.bytes = bytes
      progress.update({ read, refused })
    },
  }
}

describe('progress on a terminal', () => {
  it('is one line that is redrawn, and wiped at the end', () => {
    const { later, end, written } = start()
    later(1_000, 1_000, 100)
    later(1_000, 2_000, 200, 1)
    later(1_000, 3_000, 300, 1)
    end()
    expect(written).toEqual([
      expect.stringMatching(/ 20% · 200 lines · 100 lines\/s · 1 refused · about 8 s left$/),
      WIPE,
      expect.stringMatching(/ 30% · 300 lines · 100 lines\/s · 1 refused · about 7 s left$/),
      WIPE,
    ])
  })

  it('is redrawn five times a second at most', () => {
    const { later, written } = start()
    for (let n = 1; n <= 50; n++) later(40, 100 * n, n)
    expect(written.filter((text) => text !== WIPE)).toHaveLength(10)
  })

  it('leaves the last column free, also where the terminal does not tell how many it has', () => {
    for (const [columns, widest] of [
      [40, 39],
      [0, 79],
    ] as const) {
      const { later, written } = start({ columns })
      later(1_000, 1_000, 100)
      later(1_000, 2_000, 200)
      expect(written[0]?.length).toBe(widest)
    }
  })

  it('gives way to a line that stays', () => {
    const { later, say, end, written } = start()
    later(1_000, 1_000, 100)
    later(1_000, 2_000, 200)
    say('line 7: is missing')
    end()
    expect(written.slice(1)).toEqual([WIPE, 'line 7: is missing\n'])
  })

  it('counts rates from the first batch on, whatever was waited for or passed over before', () => {
    const { later, written } = start()
    later(60_000, 5_000, 100)
    later(1_000, 6_000, 200)
    expect(written[0]).toMatch(/ 60% · 200 lines · 100 lines\/s · 0 refused · about 4 s left$/)
  })

  it('tells no time left where it does not know how much there is, or how fast it goes', () => {
    const endless = start({ totalBytes: null })
    endless.later(1_000, 1_000, 100)
    endless.later(1_000, 2_000, 200)
    expect(endless.written).toEqual(['200 lines · 100 lines/s · 0 refused'])
    const atOnce = start()
    atOnce.later(1_000, 10_000, 100)
    atOnce.later(1_000, 10_000, 200)
    expect(atOnce.written[0]).toMatch(/ 100% · 200 lines · 100 lines\/s · 0 refused$/)
  })

  it('of an input that has grown meanwhile ends at 100%', () => {
    const { later, written } = start()
    later(1_000, 1_000, 100)
    later(1_000, 12_000, 200)
    expect(written[0]).toContain(' 100% ')
  })
})

describe('progress elsewhere', () => {
  it('is a whole line every ten seconds', () => {
    const { later, end, written } = start({ isTTY: false })
    for (let n = 1; n <= 25; n++) later(1_000, 100 * n, 10 * n)
    end()
    expect(written).toEqual([
      '10% · 100 lines · 10 lines/s · 0 refused · about 2 min left\n',
      '20% · 200 lines · 10 lines/s · 0 refused · about 2 min left\n',
    ])
  })

  it('is nothing where a load is short', () => {
    const { later, end, written } = start({ isTTY: false })
    for (let n = 1; n <= 9; n++) later(1_000, 1_000 * n, 10 * n)
    end()
    expect(written).toEqual([])
  })
})
