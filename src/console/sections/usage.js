import { serverNow } from '../api.js'
import { button, empty, facts, fillPlace, sectionHead } from '../ui/components.js'
import { h } from '../ui/dom.js'
import { formatNumber } from '../ui/format.js'
import { usageChart } from './usage-chart.js'

const LEAD =
  'Quantas vezes os sistemas com as suas chaves leram os pedidos, nos últimos 30 dias. Cada dia termina às 21h de Brasília (meia-noite UTC). Chaves de teste contam também.'
const LIMITED =
  'Algumas requisições passaram do limite por segundo e não foram atendidas. Peça a quem cuida do sistema que espere antes de repetir.'
const DAYS = 30
const DAY_MS = 86_400_000

/** The section of the usage. */
export function usageSection(api, { show, session }) {
  const place = h('div')

  async function load() {
    const days = lastDays(serverNow())
    const query = new URLSearchParams({ by: 'key', from: days[0], to: days[DAYS - 1] })
    const [{ data }, names] = await Promise.all([
      api.get(`/usage?${query}`),
      keyNames(api, session),
    ])
    if (data.length === 0) {
      const text =
        'Quando um sistema ler os pedidos com uma das suas chaves, os números aparecem aqui.'
      const hasKeys = session.capabilities.includes('keys')
      const next = hasKeys && button('Ir para Chaves', () => show('chaves'), 'primary')
      return empty('usage', 'Nenhum uso ainda', text, next)
    }
    const byDay = days.map((day) => ({ day, ...sum(data.filter((row) => row.day === day)) }))
    const all = sum(data)
    return [
      h('ul', { class: 'totals' }, [
        total('Requisições', all.requests, 'plain'),
        total('Com erro', all.failed, 'failed'),
        total('Acima do limite', all.limited, 'limited'),
      ]),
      usageChart(byDay),
      ...(all.limited > 0 ? [h('p', { class: 'note' }, LIMITED)] : []),
      h('h2', { class: 'sub' }, 'Por chave'),
      h(
        'ul',
        { class: 'cards' },
        byKey(data).map(([id, rows]) => keyCard(names.get(id) ?? id, sum(rows))),
      ),
    ]
  }

  fillPlace(place, load)
  return [sectionHead('Uso', LEAD), place]
}

/** The names of the keys by id; none without the capability to list them. */
async function keyNames(api, { capabilities }) {
  if (!capabilities.includes('keys')) return new Map()
  const keys = await api.list('/keys')
  const nameOf = ({ name, last_four: end, test }) =>
    `${name ?? `Chave …${end}`}${test ? ' (teste)' : ''}`
  return new Map(keys.map((key) => [key.id, nameOf(key)]))
}

const total = (name, count, kind) =>
  h('li', { class: `total ${kind}` }, [h('strong', {}, formatNumber(count)), h('span', {}, name)])

const keyCard = (name, { requests, failed, limited }) =>
  h('li', { class: 'card' }, [
    h('div', { class: 'card-top' }, [h('h3', {}, name)]),
    facts([
      ['Requisições', formatNumber(requests)],
      ['Com erro', formatNumber(failed)],
      ['Acima do limite', formatNumber(limited)],
    ]),
  ])

/** The days `YYYY-MM-DD` in UTC, oldest first. */
const lastDays = (nowMs) =>
  Array.from({ length: DAYS }, (_, at) =>
    new Date(nowMs - (DAYS - 1 - at) * DAY_MS).toISOString().slice(0, 10),
  )

const byKey = (rows) =>
  [...Map.groupBy(rows, (row) => row.key_id)].toSorted(
    ([, one], [, other]) => sum(other).requests - sum(one).requests,
  )

function sum(rows) {
  let [requests, limited, errors] = [0, 0, 0]
  for (const row of rows) {
    requests += row.requests
    limited += row.rate_limited
    for (const [status, count] of Object.entries(row.by_status)) {
      if (Number(status) >= 400) errors += count
    }
  }
  return { requests, limited, failed: errors - limited, served: requests - errors }
}
