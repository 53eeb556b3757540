import { describe, expect, it } from 'vitest'
import { createProgress } from '../../../../src/cli/indexer/progress.ts'
import { createScreen, WIPE } from '../../../support/cli/screens.ts'

/** Progress over an input of `totalBytes`, with a manual clock and input. */
function start({ isTTY = true, columns = 80, totalBytes = 10_000 as number | null } = {}) {
  const screen = createScreen({ isTTY, columns })
  const now = { ms: 5_000, bytes: 0 }
  const input = { bytesRead: () => now.bytes, totalBytes }
  const progress = createProgress(screen, input, () => now.ms)
  return {
    ...progress,
    written: screen.written,
    /** Advances the clock and the input. */
    later(ms: number, bytes: number, read: number, refused = 0) {
      now.ms += ms
      now.bytes = bytes
      progress.update({ read, refused })
    },
  }
}

describe('progress on a terminal', () => {
  it('progress on a terminal redraws one line and clears it at the end', () => {
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

  it('the bar fills the rest of the line', () => {
    const { later, written } = start()
    later(1_000, 1_000, 100)
    later(1_000, 2_000, 200)
    expect(written).toEqual([expect.stringMatching(/^█+░+ 20% /)])
    expect(written[0]).toHaveLength(79)
  })

  it('a permanent line replaces the status line', () => {
    const { later, printLine, end, written } = start()
    later(1_000, 1_000, 100)
    later(1_000, 2_000, 200)
    printLine('line 7: is missing')
    end()
    expect(written.slice(1)).toEqual([WIPE, 'line 7: is missing\n'])
  })

  it('rates start at the first batch, without skipped lines and waiting', () => {
    const { later, written } = start()
    later(60_000, 5_000, 100)
    later(1_000, 6_000, 200)
    expect(written[0]).toMatch(/ 60% · 200 lines · 100 lines\/s · 0 refused · about 4 s left$/)
  })

  it('progress omits the time left when total or rate is unknown', () => {
    const endless = start({ totalBytes: null })
    endless.later(1_000, 1_000, 100)
    endless.later(1_000, 2_000, 200)
    expect(endless.written).toEqual(['200 lines · 100 lines/s · 0 refused'])
    const atOnce = start()
    atOnce.later(1_000, 10_000, 100)
    atOnce.later(1_000, 10_000, 200)
    expect(atOnce.written[0]).toMatch(/ 100% · 200 lines · 100 lines\/s · 0 refused$/)
  })

  it('progress over a growing input ends at 100%', () => {
    const { later, written } = start()
    later(1_000, 1_000, 100)
    later(1_000, 12_000, 200)
    expect(written[0]).toContain(' 100% ')
  })
})

describe('progress without a terminal', () => {
  it('progress without a terminal is one line every ten seconds without a bar', () => {
    const { later, end, written } = start({ isTTY: false })
    for (let n = 1; n <= 25; n++) later(1_000, 100 * n, 10 * n)
    end()
    expect(written).toEqual([
      '10% · 100 lines · 10 lines/s · 0 refused · about 2 min left\n',
      '20% · 200 lines · 10 lines/s · 0 refused · about 2 min left\n',
    ])
  })
})
