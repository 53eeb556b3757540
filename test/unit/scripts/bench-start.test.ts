import { describe, expect, it } from 'vitest'
import { renderStart, startCosts, startFigures } from '../../../scripts/bench/start/report.ts'

const comparison = {
  orders: 5_000,
  samples: { bare: [100, 300, 200], source: [300, 600, 600], built: [200, 450, 400] },
}

describe('the figures of the starts', () => {
  it('compare each program with the bare route, start by start', () => {
    expect(startFigures(comparison).programs).toEqual([
      { program: 'bare', ms: 200, fastestMs: 100, perBare: 1 },
      { program: 'source', ms: 600, fastestMs: 300, perBare: 3 },
      { program: 'built', ms: 400, fastestMs: 200, perBare: 2 },
    ])
  })

  it('are kept as costs, without the bare route', () => {
    expect(startCosts(comparison)).toEqual({ 'start÷bare source': 3, 'start÷bare built': 2 })
  })

  it('tell which program is which', () => {
    const { built: _, ...samples } = comparison.samples
    const text = renderStart({ ...comparison, samples })
    expect(text).toMatch(/node src\/main\.ts .* 600 +300 +3\.00/)
    expect(text).not.toContain('dist')
  })
})
