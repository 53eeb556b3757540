import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ConsoleService, startConsoleService } from '../../support/console/console-browser.ts'
import { DESKTOP, openPage, tabTo } from '../../support/http/browser.ts'

let service: ConsoleService
beforeAll(async () => {
  service = await startConsoleService()
})
afterAll(() => service.close())

it('a key is created, copied and revoked with the keyboard alone', async () => {
  const { page } = await openPage(service.browser, await service.createLink('acc_keys'), DESKTOP)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const { keyboard } = page
  await tabTo(page, 'Criar chave')
  await keyboard.press('Enter')
  await keyboard.type('Planilha')
  await keyboard.press('Enter')

  await page.getByRole('dialog', { name: 'Chave criada' }).waitFor()
  await keyboard.press('Escape') // The key would be lost.
  await keyboard.press('Enter') // The focus is on "Copiar".
  await page.getByText('Copiado.').waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^key_live_/)
  await tabTo(page, 'Já guardei')
  await keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Planilha' }).waitFor()
  expect(await page.locator('body').innerText()).not.toContain('key_live_')

  await tabTo(page, 'Revogar')
  await keyboard.press('Enter')
  await tabTo(page, 'Revogar chave')
  await keyboard.press('Enter')
  await page.getByText(/^A chave “Planilha, …....” não vale mais\.$/).waitFor()
  await page.getByText('Nenhuma chave vale agora').waitFor()
  await page.close()
})

it('the keyboard opens each section and arrives at its heading, and Back closes a form', async () => {
  const { page } = await openPage(service.browser, await service.createLink(), DESKTOP)
  await tabTo(page, 'Pedidos')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Pedidos recentes' }).waitFor()
  expect(await page.locator(':focus').innerText()).toBe('Pedidos recentes')
  await page.getByRole('link', { name: 'Testes' }).click()
  await page.getByRole('button', { name: 'Criar pedido de teste' }).first().click()
  await page.getByRole('dialog').waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Pedidos recentes' }).waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
  await page.close()
})

it('the first Tab offers to skip the menu', async () => {
  const { page } = await openPage(service.browser, await service.createLink(), DESKTOP)
  await tabTo(page, 'Ir para o conteúdo')
  await page.keyboard.press('Enter')
  await tabTo(page, 'Criar chave')
  await page.close()
})
