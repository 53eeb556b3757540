import type { Part } from '../part.ts'
import { compareLoad } from './compare.ts'
import { loadFigures, renderLoad } from './report.ts'

export const loadPart: Part = {
  name: 'load',
  about: 'index load beside raw bulks',
  async measure(context) {
    const load = await compareLoad(context)
    const figures = loadFigures(load)
    const ratios = { 'documents a second load÷raw': figures.loadPerRaw }
    return { tables: [renderLoad(load)], figures, ratios, failures: [] }
  },
}
