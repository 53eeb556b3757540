import type { Part } from '../part.ts'
import { failuresOf } from '../reporting/failures.ts'
import { compareSizes } from './compare.ts'
import { renderSizes, sizesCosts, sizesFigures } from './report.ts'

export const sizesPart: Part = {
  name: 'sizes',
  about: "a page's cost by the size of the account and by depth",
  async measure(context) {
    const sizes = await compareSizes(context)
    return {
      tables: [renderSizes(sizes)],
      figures: sizesFigures(sizes),
      costs: sizesCosts(sizes),
      failures: sizes.results.flatMap(failuresOf),
    }
  },
}
