import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { generatedFiles } from '../../../scripts/openapi/generated.ts'
import { readGuide } from '../../../scripts/openapi/guide.ts'
import { anchorOf } from '../../../scripts/openapi/page/sections.ts'
import { verifyWebhook } from '../../../src/client/client.ts'
import { errorCatalogue } from '../../../src/http/api-error.ts'
import { readChangelog } from '../../../src/openapi/openapi-files.ts'
import { eventDescriptions } from '../../../src/openapi/webhooks/event-descriptions.ts'
import { orderFilters } from '../../../src/orders/filters/filter-table.ts'
import { type Filter, paramsOf } from '../../../src/orders/filters/filter-types.ts'
import {
  DEFAULT_ORDERS_PER_PAGE,
  LIMIT_HELP,
  MAX_CURSOR_LENGTH,
  MAX_ORDERS_PER_PAGE,
} from '../../../src/orders/list-params.ts'

const guide = readGuide(readChangelog())
const chapters = guide.split(/^# /m).slice(1)
const chapter = (title: string) => chapters.find((text) => text.startsWith(`${title}\n`)) ?? ''
const rows = (text: string) =>
  text.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('|---'))

describe('the chapter on errors', () => {
  const [catalogued = ''] = chapter('Erros').split('\n## ')
  const documented = rows(catalogued)
    .slice(1)
    .map((line) => line.split('|').map((cell) => cell.trim()))

  it('lists the status and code of every error, in the order of the catalogue', () => {
    const catalogue = Object.entries(errorCatalogue)
    expect(documented.map(([, status, code]) => [status, code])).toEqual(
      catalogue.map(([code, { status }]) => [String(status), `\`${code}\``]),
    )
  })

  it('states what to do for each error', () => {
    for (const [, , , help = ''] of documented) expect(help.length).toBeGreaterThan(20)
  })
})

describe('the chapter on limits', () => {
  it.each([
    ['the page', `1 a ${MAX_ORDERS_PER_PAGE}`],
    ['the cursor', `${MAX_CURSOR_LENGTH} caracteres`],
  ])('states the limit of %s as the code defines it', (_what, text) => {
    expect(chapter('Limites')).toContain(text)
  })

  it('leaves the default page size to the chapter on paging', () => {
    expect(chapter('Paginação')).toContain(`o padrão é ${DEFAULT_ORDERS_PER_PAGE}`)
  })
})

describe('a filter of GET /v1/orders', () => {
  const filters: readonly Filter[] = Object.values(orderFilters)
  const namedIn = (text: string, param: string) => new RegExp(`\\b${param}\\b`).test(text)
  const namesOf = (some: readonly Filter[]) => some.flatMap(paramsOf).map(({ param }) => param)

  it.each(namesOf(filters))('%s is in the chapter on filters', (param) => {
    expect(namedIn(chapter('Filtros e parâmetros'), param), 'add it to 03-*.md').toBe(true)
  })

  it.each(namesOf(filters.filter(({ isPersonal }) => isPersonal)))(
    '%s, which a masked key cannot use, is in the chapter on keys',
    (param) => {
      expect(namedIn(chapter('Autenticação'), param), 'add it to 02-*.md').toBe(true)
    },
  )

  it.each(namesOf(filters.filter(({ isInEveryCursor }) => !isInEveryCursor)))(
    '%s, which is newer than the first release, is announced',
    (param) => {
      const isAnnounced = readChangelog().some(({ text }) => namedIn(text, param))
      expect(isAnnounced, 'add an entry that names it to openapi/changes.json').toBe(true)
    },
  )
})

describe('the largest page', () => {
  it('is the one of the code in the chapter on paging', () => {
    const limits = chapter('Paginação').matchAll(/`limit` vai de (1 a \d+)/g)
    expect([...limits].map(([, limit]) => limit)).toEqual([`1 a ${MAX_ORDERS_PER_PAGE}`])
  })

  it('is the one of the code in the error of the chapter on errors', () => {
    expect(chapter('Erros')).toContain(`"message": "${LIMIT_HELP}"`)
  })

  it.each(['Paginação', 'Cópia em dia', 'Limites'])(
    'is the one of the code in the requests of the chapter %s',
    (title) => {
      const limits = [...chapter(title).matchAll(/\blimit=(\d+)/g)].map(([, limit]) => limit)
      expect(new Set(limits)).toEqual(new Set([`${MAX_ORDERS_PER_PAGE}`]))
    },
  )
})

it.each(['Autenticação', 'Receber webhooks'])(
  'the chapter %s names the Painel before the operator of the service',
  (title) => {
    const [panel, operator] = ['Painel', 'uem opera'].map((name) => chapter(title).indexOf(name))
    expect(panel).toBeGreaterThan(0)
    expect(operator).toBeGreaterThan(Number(panel))
    expect(chapter(title)).not.toMatch(/\bno console\b/)
  },
)

describe('the chapter on webhooks', () => {
  const text = chapter('Receber webhooks')

  it('starts with the rule that the listing is the truth', () => {
    expect(text.split('\n')[2]).toContain('`updated_at_asc` é a verdade')
  })

  it('lists every event type and when it is sent, as the description does', () => {
    const [, types = ''] = text.split('## Os tipos de evento')
    const [table = ''] = types.split('\n## ')
    const documented = rows(table).map((line) => line.split('|').map((cell) => cell.trim()))
    expect(documented.slice(1).map(([, type, when]) => [type, when])).toEqual(
      Object.entries(eventDescriptions).map(([type, { when }]) => [`\`${type}\``, when]),
    )
  })

  it('bounds the wait for the API, and names the events that leave `updated_at` as it is', () => {
    const wait = text.split('\n').filter((line) => line.includes('espere e tente de novo'))
    expect(wait).toHaveLength(1)
    expect(wait[0]).toContain('anterior ao de `data`')
    expect(wait[0]).toContain('no máximo 1 minuto')
    const [exception = ''] = text.split('\n').filter((line) => line.includes('não avança'))
    for (const type of ['payment_received', 'payment_declined'] as const) {
      expect(exception).toContain(`\`order.${type}\``)
    }
  })

  it('has a signed example that the public package and the client verify', async () => {
    const [, block = ''] = /```text\n(segredo[\s\S]*?)```/.exec(text) ?? []
    const fields = Object.fromEntries(
      block
        .trim()
        .split('\n')
        .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ')).trim()]),
    )
    const { segredo = '', corpo = '', ...headers } = fields
    const seconds = Number(headers['webhook-timestamp'])
    expect(headers['webhook-signature']).toBe(
      new Webhook(segredo).sign(headers['webhook-id'] ?? '', new Date(seconds * 1000), corpo),
    )
    const event = await verifyWebhook(corpo, headers, segredo, { now: () => seconds * 1000 })
    expect(event.id).toBe(headers['webhook-id'])
  })
})

describe('links inside docs.md', () => {
  const prose = generatedFiles()['docs.md'].replace(/^```[\s\S]*?^```/gm, '')
  const anchors = [...prose.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => anchorOf(title))

  it('every link inside the document points to a heading', () => {
    const links = [...prose.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor)
    expect(links.length).toBeGreaterThanOrEqual(5)
    expect(links.filter((anchor) => !anchors.includes(anchor ?? ''))).toEqual([])
  })

  it('every heading of the document has a unique anchor', () => {
    expect(new Set(anchors).size).toBe(anchors.length)
  })
})

describe.each(['openapi.json', 'management.json'] as const)('the summary in %s', (name) => {
  const { info } = JSON.parse(generatedFiles()[name])

  it('has two sentences, because generators copy it into every file', () => {
    expect(info.description.match(/\.(?= |$)/g)).toHaveLength(2)
  })

  it('links to nothing inside a page that generators do not have', () => {
    expect(generatedFiles()[name]).not.toContain('](#')
  })
})

it('the title of the API is ASCII, because generators name packages after it', () => {
  expect(JSON.parse(generatedFiles()['openapi.json']).info.title).toBe('API de Pedidos')
})
