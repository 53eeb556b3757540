import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { MINUTE_MS } from '../../../src/lib/durations.ts'
import { createAggregatedMetrics } from '../../../src/observability/metrics/aggregated-metrics.ts'
import { createIndexingMetrics } from '../../../src/observability/metrics/indexing.ts'
import { createManagementMetrics } from '../../../src/observability/metrics/management.ts'
import { registerProcessMetrics } from '../../../src/observability/metrics/process.ts'
import { createMetrics } from '../../../src/observability/metrics/registry.ts'
import { createWebhookMetrics } from '../../../src/observability/metrics/webhooks.ts'
import { MAX_RETRY_AFTER_MS } from '../../../src/webhooks/deliveries/retry-schedule.ts'
import { imageEnvironment } from './dockerfile.ts'

interface Panel {
  title: string
  type: string
  datasource?: object
  targets?: { expr: string; datasource: object }[]
}

interface Rule {
  alert: string
  expr: string
  annotations: { summary: string }
}

const read = (path: string) =>
  readFileSync(new URL(`../../../docker/${path}`, import.meta.url), 'utf8')
const dashboard = JSON.parse(read('monitoring/grafana/dashboards/orders-api.json'))
const panels: Panel[] = dashboard.panels
const graphs = panels.filter(({ type }) => type !== 'row')
const expressions = graphs.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

const prometheusConfig = parse(read('monitoring/prometheus.yml'))
const { groups }: { groups: { name: string; rules: Rule[] }[] } = parse(
  read('monitoring/alerts.yml'),
)
const alerts = groups.flatMap(({ name, rules }) => rules.map((rule) => ({ group: name, ...rule })))
const ruleOf = (name: string) => alerts.find(({ alert }) => alert === name) ?? { expr: '' }
/** The page with the next step, by the group of an alert. */
const pages: Record<string, string> = {
  api: 'observability.md',
  indexing: 'observability.md',
  management: 'management.md',
  webhooks: 'webhooks.md',
}
const documents = globSync('*.md', { cwd: new URL('../../../docker/', import.meta.url) }).map(read)
const { datasources } = parse(read('monitoring/grafana/datasources/prometheus.yml'))
const { providers } = parse(read('monitoring/grafana/dashboards/dashboards.yml'))
const { services } = parse(read('../docker-compose.yml'), { merge: true })
const { prometheus, grafana, api, watch, webhooks } = services

/** The metrics of every kind of process. */
function exported() {
  const serving = createMetrics()
  const indexing = createIndexingMetrics(
    async () => 0,
    async () => 0,
    () => false,
  )
  const none = { due: 0, oldestDueAt: null }
  createWebhookMetrics(serving.registry, {
    deliveries: { backlog: async () => none },
    events: { backlog: async () => ({ records: 0, oldestRecordedAt: null }) },
    endpoints: { counts: async () => ({ enabled: 0, failing: 0, disabled: 0 }) },
  })
  createManagementMetrics(serving.registry)
  for (const metrics of [serving, indexing]) registerProcessMetrics(metrics)
  const workers = createAggregatedMetrics(2, () => [])
  return [serving, indexing, workers].flatMap(({ registry }) => registry.getMetricsAsArray())
}
const metrics = exported()

/** Of the series of a histogram. */
const SUFFIXES = ['_bucket', '_sum', '_count']
/** The names of all series, and the one that Prometheus adds. */
const known = new Set([
  'up',
  ...metrics.flatMap(({ name, type }) =>
    String(type) === 'histogram' ? SUFFIXES.map((suffix) => name + suffix) : [name],
  ),
])

/** The metrics of this service, without those that prom-client adds to every process. */
const own = [...new Set(metrics.map(({ name }) => name))].filter(
  (name) => name === 'nodejs_eventloop_delay_seconds' || !/^(process|nodejs)_/.test(name),
)

/** The series names of an expression, without functions, labels and values. */
const seriesIn = (expr: string): readonly string[] =>
  expr
    .replace(/"[^"]*"|\{[^}]*\}|\[[^\]]*\]|by \([^)]*\)|\b(?:unless|or|offset)\b/g, '')
    .match(/\b[a-z_]+\b(?!\s*\()/g) ?? []

/** The name of the metric of a series, where it is this metric. */
const baseOf = (series: string, name: string) =>
  SUFFIXES.includes(series.slice(name.length)) && series.startsWith(name) ? name : series

it.each(own)('a page of docker/ describes %s', (name) => {
  const isDescribed = documents.some((text) => text.includes(`\`${name}\``))
  expect(isDescribed, `add ${name} to docker/observability.md`).toBe(true)
})

describe('the dashboard', () => {
  it.each(expressions)('the dashboard queries existing metrics: %s', (expr) => {
    const names = seriesIn(expr)
    expect(names).not.toEqual([])
    for (const name of names) expect(known).toContain(name)
  })

  /** The first explains slow pages; an alert watches the workers, which most services lack. */
  const notShown = [
    'opensearch_order_answers_total',
    ...['serving_workers', 'serving_workers_ended_total'],
  ]
  it.each(own.filter((name) => !notShown.includes(name)))('the dashboard shows %s', (name) => {
    const shown = expressions.flatMap(seriesIn).map((series) => baseOf(series, name))
    expect(shown, `no panel of orders-api.json queries ${name}: add one`).toContain(name)
  })

  it.each(graphs)(
    'the dashboard queries the provisioned data source for $title',
    ({ datasource, targets }) => {
      const [{ uid, type }] = datasources
      expect(targets).not.toEqual([])
      for (const source of [datasource, ...(targets ?? []).map((target) => target.datasource)]) {
        expect(source).toEqual({ uid, type })
      }
    },
  )

  it('the dashboard has panels with unique names and places', () => {
    const ids = panels.map((panel) => (panel as Panel & { id: number }).id)
    expect(new Set(ids).size).toBe(panels.length)
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length)
  })
})

describe('the alerts', () => {
  it.each(alerts)('the alert $alert compares existing metrics with a bound', ({ expr }) => {
    const names = seriesIn(expr)
    expect(names).not.toEqual([])
    for (const name of names) expect(known).toContain(name)
    expect(expr).toMatch(/ > [\d.]+$|^(.+) != \1$/)
  })

  it.each([
    ['a stream', 'indexing_stream_backlog'],
    ['a store of webhooks', 'webhook_due_deliveries'],
  ])('an alert is true for the backlog of %s that does not respond, which is NaN', (_of, name) => {
    // Only NaN differs from itself, and every comparison of it with a bound is false.
    expect(alerts).toContainEqual(
      expect.objectContaining({ expr: `max(${name}) != max(${name})`, for: '5m' }),
    )
  })

  it('the alert on overdue webhooks is muted only while attempts to failing endpoints go on', () => {
    const { expr } = ruleOf('WebhooksOverdue')
    const [, muted] = expr.split(' unless ')
    const minutes =
      /^max\(webhook_endpoints\{state="failing"\}\) \* sum\(increase\(webhook_attempts_total\[(\d+)m\]\)\) > 0$/
    const windowMs = Number(minutes.exec(muted ?? '')?.[1]) * MINUTE_MS
    // No two probes of a circuit breaker are further apart.
    expect(windowMs).toBeGreaterThan(MAX_RETRY_AFTER_MS + 10 * MINUTE_MS)
  })

  it('the alert on dispatchers remembers for a day that there was one', () => {
    const { expr } = ruleOf('WebhookDispatchers')
    expect(expr).toMatch(/\(sum\((\S+)\) or 0 \* sum\(present_over_time\(\1\[1d\]\)\)\)/)
  })

  it.each([
    ['ChangesLost', /^sum\(indexing_\S+_total\) > 0$/],
    ['ChangesRefused', / or sum\((indexing_\S+) unless \1 offset 15m\) > 0$/],
  ])('the alert %s includes what a watch counts before its first scrape', (name, counted) => {
    expect(ruleOf(name).expr).toMatch(counted)
  })

  it.each(alerts)(
    'the page of the group $group says what to do after $alert',
    ({ group, alert, annotations }) => {
      const page = pages[group] ?? ''
      const hasRow = read(page).includes(`| \`${alert}\` |`)
      expect(hasRow, `add a row for ${alert} to the alerts of docker/${page}`).toBe(true)
      expect(annotations.summary).toMatch(/\S/)
    },
  )

  it.each([
    'http_request_duration_seconds_count',
    'serving_workers',
    'indexing_lag_seconds_bucket',
    'indexing_changes_lost_total',
    'indexing_changes_total',
    'indexing_stamps_ahead_seconds',
    'indexing_read_alias_faulty',
    'webhook_oldest_due_seconds',
    'webhook_due_deliveries',
    'webhook_is_dispatcher',
    'webhook_attempts_total',
  ])('an alert watches %s', (name) => {
    expect(alerts.some(({ expr }) => seriesIn(expr).includes(name))).toBe(true)
  })

  it('Prometheus evaluates the alerts', () => {
    const mounted = './docker/monitoring/alerts.yml:/etc/prometheus/alerts.yml:ro'
    expect(prometheusConfig.rule_files).toEqual(['alerts.yml'])
    expect(prometheus.volumes).toContain(mounted)
  })
})

describe('the profile "monitoring"', () => {
  it('the monitoring services start only with their profile', () => {
    for (const service of [prometheus, grafana]) expect(service.profiles).toEqual(['monitoring'])
  })

  it('Prometheus scrapes every process with an operations port', () => {
    const { scrape_configs: scraped }: { scrape_configs: { dns_sd_configs: object[] }[] } =
      prometheusConfig
    const port = Number(imageEnvironment['OPERATIONS_PORT'])
    expect(scraped.flatMap(({ dns_sd_configs }) => dns_sd_configs)).toMatchObject([
      { names: ['api'], port },
      { names: ['watch'], port },
      { names: ['webhooks'], port },
    ])
    expect(api.command).toContain('serve')
    expect(watch.command).toContain('watch')
    expect(webhooks.command).toEqual(['webhooks', 'deliver'])
  })

  it('Grafana shows the dashboard without a login, read-only', () => {
    const settings = grafana.environment
    const [mounted] = grafana.volumes
    const [{ options, allowUiUpdates }] = providers
    expect(mounted).toBe('./docker/monitoring/grafana:/etc/grafana/provisioning:ro')
    expect(options.path).toBe('/etc/grafana/provisioning/dashboards')
    expect(settings.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH).toBe(
      `${options.path}/orders-api.json`,
    )
    expect(settings.GF_AUTH_ANONYMOUS_ENABLED).toBe('true')
    expect(settings.GF_AUTH_ANONYMOUS_ORG_ROLE).toBe('Viewer')
    expect([allowUiUpdates, dashboard.editable]).toEqual([false, false])
  })

  it('Grafana reads the data source at the address of Prometheus', () => {
    const [{ url }] = datasources
    expect(url).toBe('http://prometheus:9090')
    expect(prometheus.ports).toEqual(['127.0.0.1:9090:9090'])
  })

  it.each([prometheus, grafana])(
    'the monitoring services write to memory only',
    ({ read_only, tmpfs, volumes }) => {
      expect(read_only).toBe(true)
      expect(tmpfs).not.toEqual([])
      for (const volume of volumes) expect(volume).toMatch(/:ro$/)
    },
  )
})
