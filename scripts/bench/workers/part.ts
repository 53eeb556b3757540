import type { Part } from '../part.ts'
import { failuresOf } from '../reporting/failures.ts'
import { compareWorkers } from './compare.ts'
import { mistold, renderWorkers, workersCosts, workersFigures } from './report.ts'

export const workersPart: Part = {
  name: 'workers',
  about: 'what a request costs with two workers, beside one',
  async measure(context) {
    const comparison = await compareWorkers(context)
    const { results, told } = comparison
    return {
      tables: [renderWorkers(comparison)],
      figures: { told, results: results.map(workersFigures) },
      costs: workersCosts(comparison),
      failures: [...results.flatMap(failuresOf), ...mistold(comparison)],
    }
  },
}
