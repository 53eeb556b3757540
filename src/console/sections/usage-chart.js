import { h, svg } from '../ui/dom.js'
import { formatDay, formatNumber } from '../ui/format.js'

const HEIGHT = 160
const STEP = 20
const BAR = 14

/** The series of the chart, from the bottom: field → its name. */
const SERIES = {
  served: 'Atendidas',
  failed: 'Com erro',
  limited: 'Acima do limite',
}

/** Bars by day, with the same numbers as a table for readers of text. */
export function usageChart(days) {
  const most = Math.max(1, ...days.map(({ requests }) => requests))
  return h('figure', { class: 'chart' }, [
    h('figcaption', {}, `Requisições por dia. O maior dia teve ${formatNumber(most)}.`),
    bars(days, most),
    h('div', { class: 'axis', 'aria-hidden': 'true' }, [
      [days.at(0), days.at(Math.floor(days.length / 2)), days.at(-1)].map(({ day }) =>
        h('span', {}, formatDay(day)),
      ),
    ]),
    h('ul', { class: 'legend' }, [
      Object.entries(SERIES).map(([name, text]) => h('li', { class: name }, text)),
    ]),
    h('details', {}, [h('summary', {}, 'Ver os números'), table(days)]),
  ])
}

function bars(days, most) {
  const size = { width: days.length * STEP, height: HEIGHT }
  return svg(
    'svg',
    { viewBox: `0 0 ${size.width} ${HEIGHT}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    days.map((day, at) => {
      const series = Object.keys(SERIES).filter((name) => day[name] > 0)
      let top = HEIGHT
      const parts = series.map((name) => {
        // At least 2, so that a single error is visible beside many requests.
        const height = Math.max(2, (day[name] / most) * (HEIGHT - 6))
        top -= height
        return svg('rect', { class: name, x: at * STEP + 3, y: top, width: BAR, height })
      })
      const title = svg('title', {}, `${formatDay(day.day)}: ${formatNumber(day.requests)}`)
      const base = svg('rect', {
        class: 'base',
        x: at * STEP + 3,
        y: HEIGHT - 1,
        width: BAR,
        height: 1,
      })
      return svg('g', {}, [title, base, parts])
    }),
  )
}

function table(days) {
  const used = days.filter(({ requests }) => requests > 0)
  return h('table', {}, [
    h('thead', {}, [
      h(
        'tr',
        {},
        ['Dia', ...Object.values(SERIES)].map((text) => h('th', { scope: 'col' }, text)),
      ),
    ]),
    h('tbody', {}, [
      used
        .toReversed()
        .map((day) =>
          h('tr', {}, [
            h('th', { scope: 'row' }, formatDay(day.day)),
            Object.keys(SERIES).map((name) => h('td', {}, formatNumber(day[name]))),
          ]),
        ),
    ]),
  ])
}
