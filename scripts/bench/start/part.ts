import type { Part } from '../part.ts'
import { compareStart } from './compare.ts'
import { renderStart, startCosts, startFigures } from './report.ts'

export const startPart: Part = {
  name: 'start',
  about: 'from the start of the process to the first answer, beside a bare Fastify',
  async measure(context) {
    const comparison = await compareStart(context)
    return {
      tables: [renderStart(comparison)],
      figures: startFigures(comparison),
      costs: startCosts(comparison),
      failures: [],
    }
  },
}
