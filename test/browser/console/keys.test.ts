import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ConsoleService, startConsoleService } from '../../support/console/console-browser.ts'
import { DESKTOP, openPage, reloadPage } from '../../support/http/browser.ts'

let service: ConsoleService
beforeAll(async () => {
  service = await startConsoleService()
})
afterAll(() => service.close())

it('the card of a key says whether it reads orders, and with personal data', async () => {
  const { page } = await openPage(service.browser, await service.createLink('acc_bi'), DESKTOP)
  await page.getByRole('button', { name: 'Criar chave' }).first().click()
  await page.getByLabel('Nome').fill('BI')
  await page
    .getByLabel('Dados do comprador')
    .selectOption({ label: 'Ocultos: para relatórios e BI' })
  await page.getByRole('dialog').getByRole('button', { name: 'Criar chave' }).click()
  await page.getByRole('dialog').getByText('Copie a chave agora').waitFor()
  await page.evaluate('navigator.clipboard.writeText = () => Promise.reject(new Error("refused"))')
  await page.getByRole('button', { name: 'Copiar' }).click()
  await page.getByRole('dialog').getByText('copie com Ctrl+C').waitFor()
  await page.evaluate(`fetch('/v1/accounts/acc_bi/keys', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"name":"Conferência","scopes":[]}',
  })`)
  await reloadPage(page)
  const none = page.locator('.card', { hasText: 'Conferência' })
  expect(await none.innerText()).toContain('nenhum pedido; só confere a conta')
  // At its start: the end of another key may have these letters too.
  const card = page.locator('.card', { hasText: /^BI/ })
  expect(await card.innerText()).toContain('os pedidos da loja, sem dados pessoais')
  await page.close()
})

it('a name of spaces is refused, and a form names the key that it changes', async () => {
  await service.createKey('acc_twins', 'ERP')
  const { page } = await openPage(service.browser, await service.createLink('acc_twins'), DESKTOP)
  await page.getByRole('button', { name: 'Criar chave' }).first().click()
  const name = page.getByLabel('Nome')
  const create = page.getByRole('dialog').getByRole('button', { name: 'Criar chave' })
  await name.fill('   ')
  await create.click()
  expect(await name.evaluate((input) => input.matches(':invalid'))).toBe(true)
  await name.fill('  ERP ')
  await create.click()
  await page.getByRole('button', { name: 'Já guardei' }).click()
  await page.getByRole('heading', { name: 'ERP' }).nth(1).waitFor()
  expect(await page.locator('.card h2').allTextContents()).toEqual(['ERP', 'ERP'])
  const end = await page.locator('.card').first().locator('code').innerText()
  for (const action of ['Trocar', 'Revogar']) {
    await page.locator('.card').first().getByRole('button', { name: action }).click()
    await page.getByRole('heading', { name: `“ERP, ${end}”` }).waitFor()
    await page.getByRole('button', { name: 'Cancelar' }).click()
  }
  await page.close()
})

it('neither Esc nor a reload loses a key that is shown once', async () => {
  const { page } = await openPage(service.browser, await service.createLink('acc_shown'), DESKTOP)
  await page.getByRole('button', { name: 'Criar chave' }).first().click()
  await page.getByLabel('Nome').fill('ERP')
  await page.getByRole('dialog').getByRole('button', { name: 'Criar chave' }).click()
  await page.getByRole('dialog', { name: 'Chave criada' }).waitFor()
  // As a browser that does not know it.
  await page.evaluate("document.querySelector('dialog').removeAttribute('closedby')")
  await page.keyboard.press('Escape')
  const asked = page.waitForEvent('dialog')
  await page.evaluate('void setTimeout(() => location.reload())')
  const question = await asked
  expect(question.type()).toBe('beforeunload')
  await question.dismiss()
  expect(await page.getByLabel('Guarde este texto').inputValue()).toMatch(/^key_live_/)
  await page.getByRole('button', { name: 'Já guardei' }).click()
  await page.getByRole('heading', { name: 'ERP' }).waitFor()
  await reloadPage(page)
  await page.close()
})

it('the newest of more keys than a page of the API holds comes first', async () => {
  for (let at = 1; at <= 101; at += 1) await service.createKey('acc_many', `Chave ${at}`)
  const { page } = await openPage(service.browser, await service.createLink('acc_many'), DESKTOP)
  await page.getByRole('heading', { name: 'Chave 101' }).waitFor()
  const names = await page.locator('.card h2').allInnerTexts()
  expect([names.length, names[0]]).toEqual([101, 'Chave 101'])
  await page.close()
})
