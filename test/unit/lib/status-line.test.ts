import { describe, expect, it } from 'vitest'
import { createStatusLine } from '../../../src/lib/status-line.ts'
import { createScreen, WIPE } from '../../support/cli/screens.ts'

/** A status line on the given screen, with a manual clock. */
function start(screen: Parameters<typeof createScreen>[0] = {}) {
  const { written, ...shown } = createScreen(screen)
  let nowMs = 5_000
  const line = createStatusLine(shown, () => nowMs)
  return {
    ...line,
    written,
    later(ms: number, ...of: Parameters<typeof line.show>) {
      nowMs += ms
      line.show(...of)
    },
  }
}

describe('a status line on a terminal', () => {
  it('a status line on a terminal is redrawn in place, and erased at the end', () => {
    const { later, clear, written } = start()
    later(200, 'one')
    later(200, 'two')
    clear()
    clear()
    expect(written).toEqual(['one', WIPE, 'two', WIPE])
  })

  it('a status line on a terminal is redrawn at most five times a second', () => {
    const { later, written } = start()
    for (let n = 1; n <= 50; n++) later(40, `${n}`)
    expect(written.filter((text) => text !== WIPE)).toHaveLength(10)
  })

  it.each([
    ['of 40 columns', 40, 39],
    ['without a known width', 0, 79],
  ])('leaves the last column of a terminal %s free', (_name, columns, widest) => {
    const cut = start({ columns })
    cut.later(200, 'x'.repeat(100))
    expect(cut.written).toEqual(['x'.repeat(widest)])
    const line = start({ columns })
    line.later(200, 'x'.repeat(100), (within) => `within ${within}`)
    expect(line.written).toEqual([`within ${widest}`])
  })

  it('a status line on a terminal is erased before a permanent line', () => {
    const { later, printLine, clear, written } = start()
    later(200, 'one')
    printLine('line 7: is missing')
    clear()
    expect(written).toEqual(['one', WIPE, 'line 7: is missing\n'])
  })

  it('a permanent line cannot control the terminal', () => {
    const { printLine, written } = start()
    printLine('a\tb\n\u001b]0;title\u0007\u009b2J\r\u007f')
    expect(written).toEqual(['a\tb\n\uFFFD]0;title\uFFFD\uFFFD2J\uFFFD\uFFFD\n'])
  })
})

describe('a status line in a file or pipe', () => {
  it('a status line in a file or pipe is appended untruncated every ten seconds, and never erased', () => {
    const { later, printLine, clear, written } = start({ isTTY: false, columns: 2 })
    for (let n = 1; n <= 25; n++) later(1_000, `after ${n} s`, () => 'cut')
    printLine('line 7: is missing')
    clear()
    expect(written).toEqual(['after 10 s\n', 'after 20 s\n', 'line 7: is missing\n'])
  })

  it('a status line in a file or pipe is not printed for short work', () => {
    const { later, clear, written } = start({ isTTY: false })
    for (let n = 1; n <= 9; n++) later(1_000, `after ${n} s`)
    clear()
    expect(written).toEqual([])
  })
})
