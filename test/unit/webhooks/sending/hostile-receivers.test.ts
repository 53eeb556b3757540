import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { repeat, reply, response } from '../../../support/webhooks/sending/receiver.ts'
import { openReceiver, openSender } from '../../../support/webhooks/sending/sender.ts'

/** Short, because the test waits for it. */
const DEADLINE_MS = 1_000

describe('a receiver that delays the sender', () => {
  it('a receiver that never responds fails at the deadline', async () => {
    const receiver = await openReceiver(() => {})
    const result = await openSender({ timeoutMs: DEADLINE_MS }).post(receiver.url)
    expect(result).toMatchObject({ status: null, error: 'no response within 1 s', excerpt: null })
  })

  it('a receiver that drips headers fails at the deadline', async () => {
    const receiver = await openReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      repeat(socket, 'x-drip: 1\r\n', 10)
    })
    const result = await openSender({ timeoutMs: DEADLINE_MS }).post(receiver.url)
    expect(result).toMatchObject({ status: null, error: 'no response within 1 s' })
  })

  it('a receiver that sends informational responses for ever fails at the deadline', async () => {
    const receiver = await openReceiver((socket) => {
      repeat(socket, 'HTTP/1.1 102 Processing\r\n\r\n', 10)
    })
    const result = await openSender({ timeoutMs: DEADLINE_MS }).post(receiver.url)
    expect(result).toMatchObject({ status: null, error: 'no response within 1 s' })
  })

  it('a 2xx whose body drips is a success, and its connection is closed', async () => {
    const receiver = await openReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n')
      repeat(socket, 'x', 10)
    })
    const result = await openSender({ timeoutMs: DEADLINE_MS }).post(receiver.url)
    expect(result).toMatchObject({ status: 200, error: null })
    expect(result.excerpt).toMatch(/^x+$/)
    await expect.poll(() => receiver.openConnections).toBe(0)
  })

  it('a 2xx whose body never begins is a success before the deadline', async () => {
    const receiver = await openReceiver(reply('HTTP/1.1 202 Accepted\r\ncontent-length: 5\r\n\r\n'))
    const result = await openSender().post(receiver.url)
    expect(result).toMatchObject({ status: 202, error: null, excerpt: null })
  })

  it('a body without end is read up to a limit, and its connection is closed', async () => {
    let sentBytes = 0
    const receiver = await openReceiver((socket) => {
      const block = 'y'.repeat(64 * 1_024)
      const send = () => {
        while (!socket.destroyed && socket.write(block)) sentBytes += block.length
      }
      socket.write('HTTP/1.1 500 Error\r\n\r\n')
      socket.on('drain', send)
      send()
    })
    const result = await openSender().post(receiver.url)
    expect(result).toMatchObject({ status: 500, error: 'the response has status 500' })
    expect(result.excerpt).toBe('y'.repeat(512))
    await expect.poll(() => receiver.openConnections).toBe(0)
    expect(sentBytes).toBeLessThan(100 * 2 ** 20)
  })

  it('informational responses without end are read up to a limit, and their connection is closed', async () => {
    let sentBytes = 0
    const receiver = await openReceiver((socket) => {
      const block = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(2_000)
      const send = () => {
        while (!socket.destroyed && socket.write(block)) sentBytes += block.length
      }
      socket.on('drain', send)
      send()
    })
    const result = await openSender({ timeoutMs: 5 * DEADLINE_MS }).post(receiver.url)
    expect(result).toMatchObject({ status: null, error: 'the response is not valid HTTP' })
    await expect.poll(() => receiver.openConnections).toBe(0)
    expect(sentBytes).toBeLessThan(100 * 2 ** 20)
  })

  it.each([
    ['line breaks before the response', '', '\r\n'],
    ['the reason of the status', 'HTTP/1.1 200 ', 'x'],
    ['blanks in a header', 'HTTP/1.1 200 OK\r\nx-blank:', ' '],
  ])(
    '%s without end are read up to a limit, and their connection is closed',
    async (...[, head, part]) => {
      let sentBytes = 0
      const receiver = await openReceiver((socket) => {
        const block = part.repeat(50_000)
        const send = () => {
          while (!socket.destroyed && socket.write(block)) sentBytes += block.length
        }
        socket.write(head)
        socket.on('drain', send)
        send()
      })
      const result = await openSender({ timeoutMs: 5 * DEADLINE_MS }).post(receiver.url)
      expect(result).toMatchObject({ status: null, error: 'the response is too large' })
      await expect.poll(() => receiver.openConnections).toBe(0)
      expect(sentBytes).toBeLessThan(100 * 2 ** 20)
    },
  )

  it('many responses over one connection are not read as one', async () => {
    const body = 'x'.repeat(16_000)
    const receiver = await openReceiver(reply(response(200, {}, body)))
    const sender = openSender()
    for (let count = 0; count < 600; count++) {
      expect(await sender.post(receiver.url)).toMatchObject({ status: 200, error: null })
    }
    // The second request may start before the first connection is idle.
    expect(receiver.connections).toBeLessThanOrEqual(2)
  })
})

describe('a receiver that breaks the connection or the protocol', () => {
  it('a receiver that resets the connection is a failure', async () => {
    const receiver = await openReceiver((socket) => socket.resetAndDestroy())
    expect(await openSender().post(receiver.url)).toMatchObject({
      status: null,
      error: 'the connection ended before the response',
    })
  })

  it('a receiver that closes the connection amid the headers is a failure', async () => {
    const receiver = await openReceiver((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-'))
    expect(await openSender().post(receiver.url)).toMatchObject({
      status: null,
      error: 'the connection ended before the response',
    })
  })

  it('a receiver that closes the connection amid the body of a 2xx is a success', async () => {
    const receiver = await openReceiver((socket) =>
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'),
    )
    expect(await openSender().post(receiver.url)).toMatchObject({
      status: 200,
      error: null,
      excerpt: 'half',
    })
  })

  it('a receiver that closes the connection before a request is a failure', async () => {
    const receiver = await openReceiver(() => {})
    await receiver.close()
    const { port } = receiver
    expect(await openSender().post(`http://127.0.0.1:${port}/`)).toMatchObject({
      status: null,
      error: 'the connection was refused',
    })
  })

  it.each([
    ['text', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['a status without digits', 'HTTP/1.1 OK\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
    [
      'a length and chunks',
      'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
  ])('a response with %s is a failure', async (_, text) => {
    const receiver = await openReceiver(reply(text))
    expect(await openSender().post(receiver.url)).toMatchObject({
      status: null,
      error: 'the response is not valid HTTP',
    })
  })

  it('headers over 16 KB are a failure', async () => {
    const receiver = await openReceiver(reply(response(200, { 'x-large': 'x'.repeat(20_000) })))
    expect(await openSender().post(receiver.url)).toMatchObject({
      status: null,
      error: 'the response headers are larger than 16 KB',
    })
  })

  it('headers without end are a failure', async () => {
    const receiver = await openReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      repeat(socket, `x-more: ${'x'.repeat(1_000)}\r\n`, 1)
    })
    expect(await openSender().post(receiver.url)).toMatchObject({
      error: 'the response headers are larger than 16 KB',
    })
  })

  it('an unsolicited response does not become the next response', async () => {
    const receiver = await openReceiver(reply(response(200) + response(500)))
    const sender = openSender()
    const results = [await sender.post(receiver.url), await sender.post(receiver.url)]
    expect(results.map(({ status }) => status)).toEqual([200, 200])
  })
})

describe('a response that is not a plain 2xx', () => {
  it.each([301, 302, 303, 307, 308])(
    'a redirect (%i) is a failure and not followed',
    async (status) => {
      const target = await openReceiver(reply(response(200)))
      const receiver = await openReceiver(reply(response(status, { location: target.url })))
      expect(await openSender().post(receiver.url)).toMatchObject({
        status,
        error: `the response is a redirect (${status}), which is not followed; set the URL to its target`,
      })
      expect(target.connections).toBe(0)
    },
  )

  it('the failure of a redirect does not name its target', async () => {
    const location = 'http://169.254.169.254/latest/meta-data/?token=t0ken'
    const receiver = await openReceiver(reply(response(302, { location })))
    const result = await openSender().post(receiver.url)
    expect(JSON.stringify(result)).not.toMatch(/169\.254|token/)
  })

  it.each([400, 401, 404, 410, 429, 500, 503])('the status %i is a failure', async (status) => {
    const receiver = await openReceiver(reply(response(status, {}, 'reason')))
    expect(await openSender().post(receiver.url)).toMatchObject({
      status,
      error: `the response has status ${status}`,
      retryAfterMs: null,
      excerpt: 'reason',
    })
  })

  it('an informational response is skipped', async () => {
    const early = 'HTTP/1.1 103 Early Hints\r\nretry-after: 9\r\n\r\n'
    const receiver = await openReceiver(reply(early + response(204)))
    expect(await openSender().post(receiver.url)).toMatchObject({
      status: 204,
      error: null,
      retryAfterMs: null,
    })
  })

  it.each([100, 101])(
    'the status %i, which the sender never requests, is a failure',
    async (status) => {
      const upgrade = 'connection: upgrade\r\nupgrade: websocket\r\n'
      const receiver = await openReceiver(reply(`HTTP/1.1 ${status} Status\r\n${upgrade}\r\n`))
      expect(await openSender().post(receiver.url)).toMatchObject({
        status: null,
        error: 'the connection ended before the response',
      })
    },
  )

  it('a response of HTTP/1.0 without a length is a success', async () => {
    const receiver = await openReceiver((socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nthanks'))
    expect(await openSender().post(receiver.url)).toMatchObject({
      status: 200,
      error: null,
      excerpt: 'thanks',
    })
  })

  it('a compressed body is neither requested nor inflated', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 2 ** 20))
    const receiver = await openReceiver((socket) => {
      const headers = { 'content-encoding': 'gzip', 'content-length': `${bomb.length}` }
      socket.write(response(200, headers))
      socket.write(bomb)
    })
    const result = await openSender().post(receiver.url)
    expect(result).toMatchObject({ status: 200, error: null, excerpt: null })
    expect(receiver.requests[0]?.head).toContain('accept-encoding: identity')
  })
})

describe('the excerpt of a response', () => {
  it.each([
    ['the first 512 bytes', 'a'.repeat(2_000), 'a'.repeat(512)],
    ['no part of a character at its end', `${'a'.repeat(511)}ç`, 'a'.repeat(511)],
    ['an empty body as null', '', null],
    ['no control characters', 'a\u001B[31m\u0000\u009B\r\n\tb\rc', 'a�[31m��\r\n\tb�c'],
  ])('the excerpt has %s', async (_, body, excerpt) => {
    const receiver = await openReceiver(reply(response(500, {}, body)))
    expect(await openSender().post(receiver.url)).toMatchObject({ excerpt })
  })

  it('the excerpt of several chunks is their beginning', async () => {
    const chunks = ['4\r\nabcd\r\n', '3\r\nefg\r\n', '0\r\n\r\n']
    const receiver = await openReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      for (const [at, chunk] of chunks.entries()) setTimeout(() => socket.write(chunk), at * 5)
    })
    expect(await openSender().post(receiver.url)).toMatchObject({ excerpt: 'abcdefg' })
  })

  it('invalid UTF-8 becomes replacement characters', async () => {
    const receiver = await openReceiver((socket) => {
      socket.write(response(500, { 'content-length': '3' }))
      socket.write(Buffer.from([0x61, 0xff, 0x62]))
    })
    expect(await openSender().post(receiver.url)).toMatchObject({ excerpt: 'a�b' })
  })
})

describe('the header Retry-After', () => {
  const now = Date.UTC(2025, 0, 1)

  it.each([
    ['0', 0],
    ['120', 120_000],
    ['999999999', 999_999_999_000],
    ['Wed, 01 Jan 2025 00:01:00 GMT', 60_000],
    ['Tue, 31 Dec 2024 23:59:59 GMT', 0],
    ['-1', null],
    ['1.5', null],
    ['1e3', null],
    ['9999999999', null],
    ['soon', null],
    ['2025', 2_025_000],
    ['2025-01-01T00:01:00Z', null],
    ['Wed, 99 Jan 2025 00:01:00 GMT', null],
    ['120, 240', null],
  ])('the value %j of a 429 is %s ms', async (value, retryAfterMs) => {
    const receiver = await openReceiver(reply(response(429, { 'retry-after': value })))
    const result = await openSender({ clock: () => now }).post(receiver.url)
    expect(result).toMatchObject({ status: 429, retryAfterMs })
  })
})
