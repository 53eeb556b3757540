import type { Sample } from '../measuring/race.ts'
import type { LoadedIndex } from '../orders/measured-load.ts'

/** What a page costs, under the name that a table has for it. */
export const pageFigures = {
  'CPU of OpenSearch a page, µs': ({ cpu }) => cpu.openSearch,
  'pages a second': ({ perSecond }) => perSecond,
  'p50, ms': ({ p50Ms }) => p50Ms,
} as const satisfies Record<string, (sample: Sample) => number>

/** What is measured of an index by itself. */
export const indexFigures = {
  'load s': ({ loadSeconds }) => loadSeconds,
  'load CPU µs a document': ({ cpuPerDocument }) => cpuPerDocument,
  'MB on disk': ({ bytes }) => bytes / 1e6,
  segments: ({ segments }) => segments,
} as const satisfies Record<string, (index: LoadedIndex) => number>
