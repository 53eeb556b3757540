import type { Part } from '../part.ts'
import { compareLoad } from './compare.ts'
import { loadFigures, renderLoad } from './report.ts'

export const loadPart: Part = {
  name: 'load',
  about: 'index load beside raw bulks',
  async measure(context) {
    const load = await compareLoad(context)
    return { tables: [renderLoad(load)], figures: loadFigures(load), failures: [] }
  },
}
