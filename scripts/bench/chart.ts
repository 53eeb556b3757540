import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describeRun, type HistoryEntry } from './history.ts'
import { formatRatio, type Recorded } from './report.ts'

const CHART_FILE = fileURLToPath(new URL('chart.svg', import.meta.url))
const LIMITS = [20, 100]
const WIDTH = 760
const LEFT = 250
const BARS_WIDTH = 440
const BAR = 18
const ROW = 26
const HEAD = 58
const GROUP_HEAD = 30
const FOOT = 52
const TITLE = 'Pages a second, the raw search of OpenSearch = 1'

// A page does not pass its colour scheme's background to an image, so the chart draws its own.
const STYLE = `text{font:13px system-ui,-apple-system,'Segoe UI',sans-serif;fill:#1f2328}
.title{font-size:16px;font-weight:600}.group{font-weight:600}.muted{fill:#59636e;font-size:12px}
.ground{fill:#fff;stroke:#d1d9e0}.mark{stroke:#59636e;stroke-dasharray:3 3}
.raw{fill:#818b98}.own{fill:#0969da}.embedded{fill:#54aeff}.baseline{fill:#bf8700}.proxy{fill:#1a7f37}
@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.muted{fill:#9198a1}.ground{fill:#0d1117;stroke:#3d444d}
.mark{stroke:#9198a1}.own{fill:#4493f8}.embedded{fill:#1f6feb}.baseline{fill:#d29922}.proxy{fill:#3fb950}}`

/** Draws the latest run of the part `api`, and returns whether there was one. */
export function drawChart(entries: readonly HistoryEntry[]): boolean {
  const latest = entries.findLast(({ parts }) => parts['api'])
  if (latest !== undefined) writeFileSync(CHART_FILE, renderChart(latest))
  return latest !== undefined
}

/** Renders the pages a second of a run, with the raw search of the same page, as an SVG. */
export function renderChart(entry: HistoryEntry): string {
  const groups = LIMITS.map((limit) => ({ limit, bars: barsOf(entry, limit) }))
  const scale = BARS_WIDTH / Math.max(...groups.flatMap(({ bars }) => bars.map((bar) => bar.value)))
  const drawn: string[] = []
  let y = HEAD
  for (const { limit, bars } of groups) {
    drawn.push(`<text class="group" x="24" y="${y + 18}">${limit} orders a page</text>`)
    y += GROUP_HEAD
    const [top, bottom] = [y - 4, y + ROW * bars.length - (ROW - BAR) + 4]
    for (const { kind, label, value } of bars) {
      const width = round(value * scale)
      const shapes = [
        `<text x="${LEFT - 10}" y="${y + 14}" text-anchor="end">${label}</text>`,
        `<rect class="${kind}" x="${LEFT}" y="${y}" width="${width}" height="${BAR}" rx="3"/>`,
        `<text x="${round(LEFT + width + 8)}" y="${y + 14}">${formatRatio(value)}</text>`,
      ]
      drawn.push(shapes.join(''))
      y += ROW
    }
    const at = round(LEFT + scale)
    drawn.push(`<line class="mark" x1="${at}" x2="${at}" y1="${top}" y2="${bottom}"/>`)
    y += 6
  }
  const height = y + FOOT
  const { environment, options } = entry
  const { cpus, cpu, openSearch } = environment
  const run = `${describeRun(entry)}; OpenSearch ${openSearch}, ${options.orders} orders`
  const machine = `load, service and search together on ${cpus} CPUs (${cpu})`
  const described = groups.map(({ limit, bars }) => {
    const values = bars.map(({ label, value }) => `${label} ${formatRatio(value)}`)
    return `${limit} orders a page: ${values.join(', ')}`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="t d">
<title id="t">${TITLE}</title>
<desc id="d">${described.join('; ')}</desc>
<style>${STYLE}</style>
<rect class="ground" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8"/>
<text class="title" x="24" y="34">${TITLE}</text>
${drawn.join('\n')}
<text class="muted" x="24" y="${height - 34}">${escaped(run)}</text>
<text class="muted" x="24" y="${height - 16}">${escaped(machine)}</text>
</svg>
`
}

/** The contenders of the largest account's listing by creation. Older runs have no bare proxy. */
function barsOf({ parts }: HistoryEntry, limit: number) {
  const recorded: Recorded | undefined = parts['api']
  const ratio = (name: string) => recorded?.ratios[`${name} large created ${limit}`] ?? 0
  const baseline = (name: string) => ratio('api÷raw') / ratio(`api÷${name}`)
  const bars = [
    { kind: 'raw', label: 'raw search of OpenSearch', value: 1 },
    { kind: 'proxy', label: 'bare proxy to the search', value: baseline('bare proxy') },
    { kind: 'own', label: 'this service', value: ratio('api÷raw') },
    { kind: 'embedded', label: 'this service, embedded store', value: ratio('embedded÷raw') },
    { kind: 'baseline', label: 'straightforward version', value: baseline('straightforward') },
  ]
  return bars.filter(({ value }) => Number.isFinite(value))
}

function round(value: number): number {
  return Math.round(10 * value) / 10
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
