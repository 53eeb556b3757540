import { expect, it } from 'vitest'
import { exportHelp, getHelp, helpOf, ordersHelp, syncHelp } from '../../../src/orders-cli/help.ts'

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

it('the help leaves other lines as they are', () => {
  expect(helpOf(ordersHelp, ['npx', 'orders'])).toMatch(/^orders: os pedidos/)
  expect(helpOf(exportHelp, ['npx', 'orders'])).toContain(
    '  --rows LINHAS        orders, uma linha',
  )
})
