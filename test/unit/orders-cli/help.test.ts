import { expect, it } from 'vitest'
import { Interruption } from '../../../src/orders-cli/errors.ts'
import { exportOptions } from '../../../src/orders-cli/export/command.ts'
import { getOptions } from '../../../src/orders-cli/get.ts'
import { exportHelp, getHelp, helpOf, ordersHelp, syncHelp } from '../../../src/orders-cli/help.ts'
import { syncOptions } from '../../../src/orders-cli/sync/command.ts'

const helps = { orders: ordersHelp, export: exportHelp, get: getHelp, sync: syncHelp }

it.each(Object.entries(helps))(
  'every command line in the help of %s is the one called',
  (_, text) => {
    const lines = helpOf(text, ['npx', 'orders']).split('\n')
    expect(
      lines.filter((line) => /(?<!npx )\borders (?:export|get|sync|--|COMANDO)/.test(line)),
    ).toEqual([])
    expect(lines.filter((line) => line.includes('npx orders '))).not.toEqual([])
  },
)

it.each(Object.entries(helps))('the help of %s fits into a terminal of 80 columns', (_, text) => {
  const lines = helpOf(text, ['npm', 'run', '-s', 'orders', '--']).split('\n')
  expect(lines.filter((line) => line.length > 80)).toEqual([])
})

it('the help leaves other lines as they are', () => {
  expect(helpOf(ordersHelp, ['npx', 'orders'])).toMatch(/^orders: os pedidos/)
  expect(helpOf(exportHelp, ['npx', 'orders'])).toContain(
    '  --rows LINHAS        orders, uma linha por pedido',
  )
})

it.each([
  ['export', exportHelp, exportOptions],
  ['get', getHelp, getOptions],
  ['sync', syncHelp, syncOptions],
])('the help of %s lists each of its options, and no other', (_, text, options) => {
  const known = Object.keys(options)
  const listed = [...text.matchAll(/(?:^ {2}|\[)--([a-z-]+)/gm)].map(([, name = '']) => name)
  expect({
    withoutHelp: known.filter((name) => !listed.includes(name)),
    withoutOption: listed.filter((name) => !known.includes(name)),
  }).toEqual({ withoutHelp: [], withoutOption: [] })
})

it('the help lists the exit codes of an interruption', () => {
  const [ctrlC, terminate] = [new Interruption('SIGINT'), new Interruption('SIGTERM')]
  expect(ordersHelp.replaceAll('\n', ' ')).toContain(
    `interrompido, com ${ctrlC.exitCode} (Ctrl-C) ou ${terminate.exitCode} (SIGTERM)`,
  )
  expect(syncHelp).toContain(`SuccessExitStatus=${terminate.exitCode}`)
})
