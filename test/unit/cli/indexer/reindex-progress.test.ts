import { expect, it } from 'vitest'
import { createReindexProgress } from '../../../../src/cli/indexer/reindex.ts'
import { createScreen, WIPE } from '../../../support/cli/screens.ts'

/** The terminal output for this many documents. */
function terminalOutput(
  done: number,
  total: number,
  step: 'compared' | 'verified' = 'compared',
): string[] {
  const screen = createScreen()
  let nowMs = 0
  const { update, printLine, end } = createReindexProgress(screen, () => nowMs, step)
  nowMs += 1_000
  update(done, total)
  printLine('OpenSearch does not respond; retrying')
  end()
  return screen.written
}

it('reindex progress shows the compared documents and yields to a permanent line', () => {
  expect(terminalOutput(1_999, 3_000)).toEqual([
    '66% · 1999 of 3000 documents compared',
    WIPE,
    'OpenSearch does not respond; retrying\n',
  ])
})

it('the progress of a finish shows the verified documents', () => {
  expect(terminalOutput(1_000, 3_000, 'verified')[0]).toBe('33% · 1000 of 3000 documents verified')
})

it.each([
  [0, 0, '0%'],
  [2_999, 3_000, '99%'],
  [3_000, 3_000, '100%'],
])('reindex progress renders %d of %d documents as %s', (compared, total, percent) => {
  expect(terminalOutput(compared, total)[0]).toMatch(new RegExp(`^${percent} `))
})
