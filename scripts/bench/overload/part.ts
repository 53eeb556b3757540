import type { Part } from '../part.ts'
import { compareOverload } from './compare.ts'
import { overloadFailures, overloadFigures, renderOverload } from './report.ts'

export const overloadPart: Part = {
  name: 'overload',
  about: 'three times as much as the API can do',
  async measure(context) {
    const overload = await compareOverload(context)
    const figures = overloadFigures(overload)
    return {
      tables: [renderOverload(overload)],
      figures,
      ratios: { 'served in the flood÷ceiling': figures.goodput },
      costs: { 'CPU shed÷served': figures.shedPerServed },
      failures: overloadFailures(overload),
    }
  },
}
