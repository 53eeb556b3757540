import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventTypes } from '../../../src/webhooks/events/event-types.ts'
import { runCommand } from '../../support/cli/command.ts'
import { onServices } from '../../support/stores/backend.ts'
import { openWebhookCommands, URL_OF_RECEIVER } from './webhook-commands.ts'

const commands = openWebhookCommands()
const { run, json, create, env } = commands
/** An endpoint for commands that exit 2, which change nothing. */
let unchanged: { id: string } & Record<string, unknown>
beforeAll(async () => {
  unchanged = await create()
})
afterAll(commands.remove)

const ID = /^we_[0-9a-f]{32}$/
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/
const UNKNOWN = `we_${'0'.repeat(32)}`
const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/)

/** An endpoint as `show` prints it. */
function shown({ secret: _, ...created }: Record<string, unknown>) {
  return { ...created, failing_since: null, disabled_reason: null }
}

describe('webhooks create', () => {
  it('prints the id and the secret on stdout alone', async () => {
    const { code, stdout, stderr } = await run(
      ...['create', '--account', 'acc_plain', '--url', URL_OF_RECEIVER],
    )
    const [id, secret, ...rest] = stdout.split('\n')
    expect({ code, id, secret, rest }).toEqual({
      code: 0,
      id: expect.stringMatching(ID),
      secret: expect.stringMatching(SECRET),
      rest: [''],
    })
    expect(stderr).toContain('acc_plain')
    expect(stderr).not.toContain('whsec_')
  })

  it('prints the endpoint with its secret as JSON', async () => {
    const before = Date.now()
    const created = await create('--events', 'order.paid,order.refunded', '--description', 'ERP')
    expect(created).toEqual({
      id: expect.stringMatching(ID),
      account_id: 'acc_1',
      test: false,
      url: URL_OF_RECEIVER,
      events: ['order.paid', 'order.refunded'],
      payload: 'full',
      status: 'enabled',
      description: 'ERP',
      secret: expect.stringMatching(SECRET),
      starts_at: INSTANT,
    })
    expect(Date.parse(created.starts_at)).toBeGreaterThanOrEqual(before + 5_000)
  })

  it('subscribes to every event by default', async () => {
    expect(await create()).toMatchObject({ events: ['*'], payload: 'full', description: null })
    expect(await create('--payload', 'thin')).toMatchObject({ payload: 'thin' })
  })

  it('accepts an internal receiver within WEBHOOK_ALLOW', async () => {
    const url = 'http://127.0.0.1:3100/hooks'
    const args = ['webhooks', 'create', '--account', 'acc_allow', '--url', url]
    expect((await runCommand(args, { ...env, WEBHOOK_ALLOW: '127.0.0.0/8' })).code).toBe(0)
  })

  it('writes the secret to no file', async () => {
    const { secret } = await create()
    const folder = `${env['DATA_DIR']}`
    for (const file of readdirSync(folder)) {
      expect(readFileSync(join(folder, file), 'latin1'), file).not.toContain(secret)
    }
  })

  it.each([
    ['http', 'http://receiver.example/', /https/],
    ['a private address', 'https://10.0.0.1/', /10\.0\.0\.1/],
    ['the loopback address', 'https://127.0.0.1/', /127\.0\.0\.1/],
    ['a short form of a private address', 'https://0x7f.1/', /127\.0\.0\.1/],
    ['localhost', 'https://localhost/', /localhost/],
    ['credentials', 'https://user:hunter2@receiver.example/', /credentials/],
    ['a fragment', 'https://receiver.example/#part', /fragment/],
    ['another port', 'https://receiver.example:9200/', /port 9200.* 443 or 8443/],
    ['no protocol', 'receiver.example/hooks', /https/],
  ])('exits 2 and creates nothing for a URL with %s', async (_name, url, message) => {
    const args = ['create', '--account', 'acc_bad', '--url', url]
    const { code, stdout, stderr } = await run(...args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
    expect(stderr).not.toContain('hunter2')
    expect(await json('list', '--account', 'acc_bad')).toEqual([])
  })

  it('exits 2 for an unknown event type, and names the nearest and every known one', async () => {
    const args = ['create', '--account', 'acc_bad', '--url', URL_OF_RECEIVER]
    const { code, stdout, stderr } = await run(...args, '--events', 'order.payed,order.refunded')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('"order.payed" (did you mean order.paid?)')
    for (const type of eventTypes) expect(stderr).toContain(type)
  })

  it.each([
    ['no account', ['--url', URL_OF_RECEIVER]],
    ['a bad account', ['--account', 'acc 1', '--url', URL_OF_RECEIVER]],
    ['no URL', ['--account', 'acc_bad']],
    ['no event type', ['--account', 'acc_bad', '--url', URL_OF_RECEIVER, '--events', '']],
    ['an unknown payload', ['--account', 'acc_bad', '--url', URL_OF_RECEIVER, '--payload', 'x']],
    ['two lines', ['--account', 'acc_bad', '--url', URL_OF_RECEIVER, '--description', 'a\nb']],
    ['an extra argument', ['--account', 'acc_bad', '--url', URL_OF_RECEIVER, 'x']],
  ])('exits 2 and creates nothing with %s', async (_name, args) => {
    const { code, stdout } = await run('create', ...args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(await json('list', '--account', 'acc_bad')).toEqual([])
  })
})

describe('webhooks without WEBHOOK_SECRETS', () => {
  // Any OpenSearch will do: the secret is missing before a store is needed.
  const secret = Buffer.alloc(32, 7).toString('base64')
  const elsewhere = {
    OPENSEARCH_URL: 'http://127.0.0.1:9',
    CURSOR_SECRETS: `k1:${secret}`,
    KEY_PEPPER: secret,
  }
  const lacking = { ...env, ...(onServices ? { WEBHOOK_SECRETS: '' } : elsewhere) }

  it.each([
    ['create', '--account', 'acc_1', '--url', URL_OF_RECEIVER],
    ['roll-secret', UNKNOWN],
  ])('webhooks %s exits 1, and names the setting and how to make a value', async (...args) => {
    const { code, stdout, stderr } = await runCommand(['webhooks', ...args], lacking)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^WEBHOOK_SECRETS is not set.*openssl rand -base64 32/)
  })
})

describe('webhooks list', () => {
  it('prints the endpoints of an account, oldest first, without their secrets', async () => {
    const args = ['--account', 'acc_list', '--url', `${URL_OF_RECEIVER}?token=1`]
    const one = await json('create', ...args)
    const other = await json('create', ...args)
    expect(await json('list', '--account', 'acc_list')).toEqual([shown(one), shown(other)])
    const { stdout } = await run('list', '--account', 'acc_list')
    expect(stdout).toMatch(/^id +test +url +events +payload +status /)
    expect(stdout).toContain(one.id)
    expect(stdout).not.toContain('whsec_')
  })

  it('without an account prints those of all accounts, and the entries that their secrets use', async () => {
    const pair = (kid: string) => `${kid}:${Buffer.alloc(32, kid).toString('base64')}`
    const withSecrets = (secrets: string, ...args: string[]) =>
      runCommand(['webhooks', ...args], { ...env, WEBHOOK_SECRETS: secrets })
    const rotated = `${pair('k2')},${pair('k1')}`
    const ids: string[] = []
    for (const account of ['acc_a', 'acc_b', 'acc_b']) {
      const args = ['create', '--account', account, '--url', URL_OF_RECEIVER, '--json']
      ids.push(JSON.parse((await withSecrets(pair('k1'), ...args)).stdout).id)
    }
    const [kept = '', rolled = '', deleted = ''] = ids
    await withSecrets(rotated, 'roll-secret', rolled, '--overlap', '1h')
    await run('delete', deleted)
    const all = await json('list')
    const found = all.filter(({ id }: { id: string }) => ids.includes(id))
    expect(found).toMatchObject([
      { id: kept, account_id: 'acc_a', secret_entries: ['k1'] },
      { id: rolled, account_id: 'acc_b', secret_entries: ['k2', 'k1'] },
    ])
    await withSecrets(rotated, 'roll-secret', rolled, '--overlap', '0s')
    const { stdout } = await run('list')
    expect(stdout).toMatch(/^id +account_id +secret_entries /)
    expect(stdout).toMatch(new RegExp(`^${kept} +acc_a +k1 `, 'm'))
    expect(stdout).toMatch(new RegExp(`^${rolled} +acc_b +k2 `, 'm'))
    expect(stdout).not.toContain(deleted)
  })

  it('prints an empty list for an account without endpoints', async () => {
    expect(await json('list', '--account', 'acc_missing')).toEqual([])
    expect(await run('list', '--account', 'acc_missing')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'none\n',
    })
  })
})

describe('webhooks show', () => {
  it('prints an endpoint without its secret', async () => {
    const created = await create()
    expect(await json('show', created.id)).toEqual(shown(created))
    const { stdout } = await run('show', created.id)
    expect(stdout).toContain(created.id)
    expect(stdout).not.toContain('whsec_')
  })

  it('does not repeat a secret that is passed in place of an id', async () => {
    const { secret } = await create()
    const { code, stderr } = await run('show', secret)
    expect(code).toBe(1)
    expect(stderr).toContain('that is a secret, not the id of an endpoint')
    expect(stderr).not.toContain(secret)
  })
})

describe('webhooks update', () => {
  it('changes what is given, and keeps the rest', async () => {
    const created = await create('--description', 'ERP')
    const url = `${URL_OF_RECEIVER}/2`
    const args = [created.id, '--url', url, '--events', 'order.paid', '--payload', 'thin']
    const updated = { ...shown(created), url, events: ['order.paid'], payload: 'thin' }
    expect(await json('update', ...args)).toEqual(updated)
    expect(await json('show', created.id)).toEqual(updated)
    expect(await json('update', created.id, '--events', '*', '--description', '')).toEqual({
      ...updated,
      events: ['*'],
      description: null,
    })
  })

  it.each([
    ['a forbidden URL', ['--url', 'https://169.254.169.254/latest'], /169\.254\.169\.254/],
    ['an unknown event type', ['--events', 'paid'], /did you mean order\.paid\?/],
    ['an unknown payload', ['--payload', 'x'], /full, thin/],
    ['nothing to change', [], /add --url, --events, --payload or --description/],
  ])('exits 2 and changes nothing for %s', async (_name, args, message) => {
    const { code, stdout, stderr } = await run('update', unchanged.id, ...args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
    expect(await json('show', unchanged.id)).toEqual(shown(unchanged))
  })
})

describe('webhooks disable and enable', () => {
  it('disable an endpoint and enable it again', async () => {
    const created = await create()
    const disabled = { ...shown(created), status: 'disabled', disabled_reason: 'manual' }
    expect(await json('disable', created.id)).toEqual(disabled)
    expect(await json('show', created.id)).toEqual(disabled)
    expect(await json('enable', created.id)).toEqual({ ...shown(created), failed_since: null })
    expect(await json('show', created.id)).toEqual(shown(created))
  })

  it('report what they did on stderr', async () => {
    const { id } = await create()
    expect(await run('disable', id)).toEqual({
      code: 0,
      stdout: '',
      stderr: `${id} is disabled (manual)\n`,
    })
    await commands.deliver(id, { state: 'held', nextAt: null, heldAt: Date.now() })
    expect(await run('enable', id)).toEqual({
      code: 0,
      stdout: '',
      stderr: `${id} is enabled; held deliveries that are due now: 1\n`,
    })
  })

  it('enable a failing endpoint with the command that sends what failed again', async () => {
    const { id } = await create()
    const failingSince = Date.now() - 86_400_000
    const since = new Date(failingSince).toISOString()
    await commands.withServices(({ webhooks }) =>
      webhooks.endpoints.update(id, (endpoint) => ({
        ...endpoint,
        failingSince,
        disabledReason: 'failing',
      })),
    )
    expect(await json('show', id)).toMatchObject({
      status: 'disabled',
      failing_since: since,
      disabled_reason: 'failing',
    })
    const { stderr } = await run('enable', id)
    expect(stderr).toContain(`webhooks replay ${id} --since ${since} --failed`)
    expect(await json('show', id)).toMatchObject({ status: 'enabled', failing_since: null })
  })
})

describe('webhooks delete', () => {
  it('deletes an endpoint, which no command finds any more', async () => {
    const created = await create()
    expect(await json('delete', created.id)).toEqual(shown(created))
    expect((await run('show', created.id)).code).toBe(1)
    expect((await run('delete', created.id)).code).toBe(1)
  })
})

describe('webhooks roll-secret', () => {
  it('prints a new secret, and when the old one ends', async () => {
    const { id, secret } = await create()
    const before = Date.now()
    const rolled = await json('roll-secret', id, '--overlap', '2h')
    expect(rolled).toEqual({ secret: expect.stringMatching(SECRET), old_secret_ends_at: INSTANT })
    expect(rolled.secret).not.toBe(secret)
    const hours = (Date.parse(rolled.old_secret_ends_at) - before) / 3_600_000
    expect(Math.round(hours)).toBe(2)
  })

  it('prints the secret on stdout alone, with an overlap of a day by default', async () => {
    const { id } = await create()
    const { code, stdout, stderr } = await run('roll-secret', id)
    expect(code).toBe(0)
    expect(stdout.trimEnd()).toMatch(SECRET)
    expect(stderr).toContain(`the old secret of ${id} ends at `)
    expect(stderr).not.toContain('whsec_')
    const [, endsAt = ''] = /ends at (\S+);/.exec(stderr) ?? []
    expect(Math.round((Date.parse(endsAt) - Date.now()) / 3_600_000)).toBe(24)
    expect(stderr).not.toContain('warning')
    expect((await run('roll-secret', id)).stderr).toContain(
      'warning: the secret before the old one',
    )
  })

  it.each(['8d', '169h', '1', 'long'])('exits 2 for the overlap %s', async (overlap) => {
    const { code, stdout, stderr } = await run('roll-secret', unchanged.id, '--overlap', overlap)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/overlap/)
  })
})

describe('an endpoint that does not exist', () => {
  it.each([
    ['show'],
    ['update', '--payload', 'thin'],
    ['enable'],
    ['disable'],
    ['delete'],
    ['roll-secret'],
    ['test'],
    ['deliveries'],
    ['replay', '--since', new Date().toISOString()],
  ])('exits 1 and is named by webhooks %s', async (command, ...args) => {
    const { code, stdout, stderr } = await run(command, UNKNOWN, ...args)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(`there is no endpoint ${UNKNOWN}`)
  })
})
