import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  finish,
  ordersInShell,
  runOrders,
  spawnOrders,
  startOnTerminal,
} from '../../../support/orders-cli/orders-cli.ts'
import {
  changed,
  type OrdersService,
  openOrdersService,
} from '../../../support/orders-cli/orders-service.ts'

let service: OrdersService
let portal: Server
let portalUrl: string
beforeAll(async () => {
  service = await openOrdersService(20)
  portal = createServer((_request, reply) => reply.end('<html>Bem-vindo ao hotel</html>'))
  portal.listen(0, '127.0.0.1')
  await once(portal, 'listening')
  portalUrl = `http://127.0.0.1:${(portal.address() as AddressInfo).port}`
})
afterAll(async () => {
  portal.close()
  await service.close()
})

const run = (args: readonly string[], env: Record<string, string> = service.env) =>
  runOrders(args, { cwd: service.folder, env })

describe('orders --help', () => {
  it.each([
    [['--help'], /orders export.*orders sync/s],
    [['-h'], /ORDERS_API_KEY/],
    [['export', '--help'], /--payment-method.*csv-br.*Exemplos:/s],
    [['get', '--help'], /orders get ID/],
    [['sync', '--help'], /sqlite:ARQUIVO.*--watch.*Exemplos:/s],
  ])('orders %j prints its help on stdout', async (args, text) => {
    const { code, stdout, stderr } = await run(args, {})
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(text)
  })
})

it('orders --version prints the version of the package', async () => {
  const file = new URL('../../../../package.json', import.meta.url)
  const { version } = JSON.parse(readFileSync(file, 'utf8'))
  expect((await run(['--version'], {})).stdout).toBe(`${version}\n`)
})

describe('orders reports an invalid command line with exit code 2', () => {
  it.each<[string[], string]>([
    [[], 'Falta o comando'],
    [
      ['exportar'],
      'Não existe o comando "exportar". Você quis dizer export? Use export, get, sync.',
    ],
    [['zzz'], 'Não existe o comando "zzz". Use export'],
    [['constructor'], 'Não existe o comando'],
    [['export'], 'Falta a opção --format. Use ndjson, csv, csv-br, xlsx.'],
    [['export', '--format', 'xls'], 'não existe "xls". Você quis dizer xlsx?'],
    [['export', '--fromat', 'csv'], 'Não existe a opção --fromat. Você quis dizer --format?'],
    [
      ['sync', 'copia', '--intervalo', '5m'],
      'Você quis dizer --interval?\nAjuda: orders sync --help',
    ],
    [['export', '--format', 'ndjson', '--rows', 'items'], '--rows e --headers são só para csv'],
    [['export', '--format', 'xlsx'], '--format xlsx precisa de --out'],
    [
      ['export', '--format', 'xlsx', '--out', 'a/b.CSV'],
      '--format xlsx não combina com --out a/b.CSV. Use --out a/b.xlsx, ou --format csv ou csv-br.',
    ],
    [
      ['export', '--format', 'csv-br', '--out', 'a.xlsx'],
      '--format csv-br não combina com --out a.xlsx. Use --out a.csv, ou --format xlsx.',
    ],
    [['export', '--format', 'csv', '--out', 'a.ndjson'], 'Use --out a.csv, ou --format ndjson.'],
    [['export', '--format', 'csv', '--headers', 'en'], '--headers: não existe "en"'],
    [['export', '--format', 'csv', '--created-gte', '31/02/2026'], 'não é uma data'],
    [['export', '--format', 'csv', '--resume'], '--resume precisa de --out'],
    [['export', '--format', 'csv', 'pedidos.csv'], 'Sobrou "pedidos.csv"'],
    [
      ['export', '--format', 'csv', '--created-gte', '2026-03-01'],
      '--created-gte: Faltam a hora e o fuso',
    ],
    [['export', '--format', 'csv', '--status', 'PAGO'], '--status: Valor desconhecido'],
    [['export', '--format', 'csv', '--payment-method', 'pix'], '--payment-method: '],
    [
      ['export', '--format', 'csv', '--url', 'http://api.exemplo.com.br'],
      'Use https://api.exemplo.com.br',
    ],
    [['export', '--format', 'csv', '--url', 'api'], 'O endereço da API não é um endereço inteiro'],
    [['export', '--format', 'csv', '--key', 'x'], 'ORDERS_API_KEY'],
    [['get'], 'Falta o id'],
    [['get', '../x'], 'não é o id de um pedido'],
    [['sync'], 'Falta o destino'],
    [['sync', ''], 'Falta o destino'],
    [['sync', 'pedidos.db'], 'escreva sqlite:pedidos.db'],
    [['sync', 'sqlite:'], 'Falta o arquivo'],
    [
      ['sync', 'sqlite3:pedidos'],
      'Não existe o destino "sqlite3:". Use sqlite:ARQUIVO, ou uma pasta.',
    ],
    [['sync', 'postgres://loja@localhost/pedidos'], 'Não existe o destino "postgres:". Use'],
    [['sync', 'copia', '--interval', '5m'], 'só vale com --watch'],
    [['sync', 'copia', '--watch', '--interval', '5'], 'não é um tempo'],
    [['sync', 'copia', '--since', '2026-03-01'], 'não é um instante'],
    [['sync', 'copia', '--since', '9999-12-31T23:59:59-03:00'], 'anos 0000 a 9999 em UTC'],
    [['sync', 'copia', '--since', '0000-01-01T00:00:00+03:00'], 'anos 0000 a 9999 em UTC'],
  ])('orders %j exits 2 and reports the invalid command line', async (args, message) => {
    const { code, stdout, stderr } = await run(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
  })

  it('orders exits 2 without an address', async () => {
    const { code, stderr } = await run(['export', '--format', 'csv'], {
      ORDERS_API_KEY: service.key,
    })
    expect(code).toBe(2)
    expect(stderr).toContain('ORDERS_API_URL')
  })

  it('orders writes nothing after an invalid command line', async () => {
    await run(['export', '--format', 'csv', '--status', 'PAGO', '--out', 'never.csv'])
    expect(readdirSync(service.folder).filter((name) => name.startsWith('never'))).toEqual([])
  })
})

describe('orders reports a failure with exit code 1', () => {
  it.each<[string, string[], RegExp]>([
    ['a missing order', ['get', 'ord_none'], /Recurso não encontrado.*\(requisição req_/],
    ['a missing folder', ['export', '--format', 'csv', '--out', 'no/x.csv'], /A pasta não existe/],
    [
      'a folder without write permission',
      ['export', '--format', 'csv', '--out', '/sys/x.csv'],
      /^\/sys: (Sem permissão|Este disco é só de leitura)/,
    ],
    ['a device', ['export', '--format', 'csv', '--out', '/dev/null'], /não é um arquivo comum/],
    [
      'an address that does not respond',
      ['get', 'ord_1', '--url', 'http://127.0.0.1:9'],
      /Confira a rede e o endereço/,
    ],
    [
      'an https address of an http port',
      ['get', 'ord_1', '--url', 'https://127.0.0.1:HTTP'],
      /^O endereço é https, mas 127\.0\.0\.1:\d+ responde http/,
    ],
  ])('orders exits 1 and reports %s', async (_what, args, message) => {
    const port = new URL(portalUrl).port
    const { code, stdout, stderr } = await run(args.map((arg) => arg.replace('HTTP', port)))
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(message)
  })

  it('orders exits 1 and names ORDERS_API_KEY after a wrong key', async () => {
    const env = { ...service.env, ORDERS_API_KEY: 'key_live_wrong' }
    const { code, stderr } = await run(['get', 'ord_1'], env)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^Chave de API recusada: confira ORDERS_API_KEY.*\(requisição req_/)
  })

  it('orders exits 1 and reports a server that is not this API', async () => {
    const { code, stderr } = await run([
      'export',
      '--format',
      'csv',
      '--url',
      portalUrl,
      '--out',
      'x.csv',
    ])
    expect(code).toBe(1)
    expect(stderr).toMatch(/não é desta API.*portal/s)
    expect(readdirSync(service.folder).filter((name) => name.startsWith('x.csv'))).toEqual([])
  })
})

it('the orders process prints the result on stdout, messages on stderr, and exits with the code', async () => {
  const spawned = (args: string[]) =>
    finish(spawnOrders(args, { cwd: service.folder, env: service.env }))
  const [first] = await service.listed()
  const [found, missing] = await Promise.all([
    spawned(['get', first?.id ?? '']),
    spawned(['get', 'ord_none']),
  ])
  expect(found).toEqual({ code: 0, stdout: `${JSON.stringify(first, null, 2)}\n`, stderr: '' })
  expect(missing).toMatchObject({ code: 1, stdout: '' })
  expect(missing.stderr).toContain('Recurso não encontrado')
})

it('orders get prints no control character of a text that a buyer chose', async () => {
  const [order] = service.visible()
  if (order === undefined) throw new Error('no order')
  const name = 'Ana\u009b2J\u202e\u007f'
  await service.write([{ ...changed(order), customer: { ...order.customer, name } }])
  const { stdout } = await run(['get', order.id])
  expect(stdout).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u)
  expect(JSON.parse(stdout).customer.name).toBe(name)
})

it('orders export shows no control character of a text on a terminal, and keeps it in a pipe', async () => {
  const [, order] = service.visible()
  if (order === undefined) throw new Error('no order')
  const name = 'Ana\u009b2J\u202e'
  await service.write([{ ...changed(order), customer: { ...order.customer, name } }])
  for (const format of ['csv', 'csv-br', 'ndjson']) {
    const command = ordersInShell(`export --format ${format} 2> /dev/null`)
    const place = { cwd: service.folder, env: service.env }
    const { stdout } = await finish(startOnTerminal(command, place))
    expect(stdout).toContain('Ana\ufffd2J\ufffd')
    expect(stdout).not.toMatch(/[^\P{Cc}\r\n]|\p{Bidi_Control}/u)
    expect((await run(['export', '--format', format])).stdout).toContain(name)
  }
})
