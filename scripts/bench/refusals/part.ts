import type { Part } from '../part.ts'
import { failuresOf } from '../reporting/failures.ts'
import { compareRefusals } from './compare.ts'
import { refusalFigures, refusalRatios, renderRefusals } from './report.ts'

export const refusalsPart: Part = {
  name: 'refusals',
  about: '401 and 429 beside a bare route of Fastify',
  async measure(context) {
    const compared = await compareRefusals(context)
    return {
      tables: compared.map(renderRefusals),
      figures: compared.map(({ stores, results }) => {
        return { stores, results: results.map(refusalFigures) }
      }),
      ratios: refusalRatios(compared),
      failures: compared.flatMap(({ results }) => results.flatMap(failuresOf)),
    }
  },
}
