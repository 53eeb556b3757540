import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { DEMO_ACCOUNT } from '../../../src/demo/accounts.ts'
import { capabilities } from '../../../src/management/sessions/session-store.ts'
import { startService } from '../cli/command.ts'
import { startBrowser } from '../http/browser.ts'

export interface ConsoleService {
  browser: Browser
  consoleUrl: string
  /** A new link; of the demo account and all parts by default. */
  createLink(accountId?: string, parts?: readonly string[]): Promise<string>
  /** By the platform. */
  createKey(accountId: string, name: string): Promise<void>
  block(accountId: string): Promise<void>
  close(): Promise<void>
}

/** A demo with console and management API on free ports, and a browser. */
export async function startConsoleService(): Promise<ConsoleService> {
  const folder = mkdtempSync(join(tmpdir(), 'console-'))
  const ports = { MANAGEMENT_PORT: '0', CONSOLE_PORT: '0' }
  const service = await startService(['--demo'], { DATA_DIR: folder, ...ports })
  const { stdout } = service.output()
  const [, token = '', api = ''] = /Bearer (mgmt_\S+)' '(http:\S+?)\/v1\//.exec(stdout) ?? []
  const [, link = ''] = /console +(\S+)/.exec(stdout) ?? []
  const browser = await startBrowser()

  async function platform(method: string, path: string, body?: object) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const content = body === undefined ? null : JSON.stringify(body)
    const { 'content-type': _type, ...plain } = headers
    const sent = { method, headers: content === null ? plain : headers, body: content }
    return (await fetch(`${api}/v1/accounts${path}`, sent)).json() as Promise<{ url: string }>
  }

  return {
    browser,
    consoleUrl: new URL(link).origin,
    async createLink(accountId = DEMO_ACCOUNT, parts = capabilities) {
      const body = { subject: 'ana@loja.example', capabilities: parts }
      return (await platform('POST', `/${accountId}/sessions`, body)).url
    },
    async createKey(accountId, name) {
      await platform('POST', `/${accountId}/keys`, { name })
    },
    async block(accountId) {
      await platform('PUT', `/${accountId}/block`)
    },
    async close() {
      await browser.close()
      await service.stop()
      rmSync(folder, { recursive: true })
    },
  }
}
