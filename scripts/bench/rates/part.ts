import type { Part } from '../part.ts'
import { compareRates } from './compare.ts'
import { rateCosts, rateFailures, rateFigures, rateRatios, renderRates } from './report.ts'

export const ratesPart: Part = {
  name: 'rates',
  about: 'how long answers take at a rate below the ceiling, and alone',
  async measure(context) {
    const rates = await compareRates(context)
    return {
      tables: [renderRates(rates)],
      figures: rateFigures(rates),
      ratios: rateRatios(rates),
      costs: rateCosts(rates),
      failures: rateFailures(rates),
    }
  },
}
