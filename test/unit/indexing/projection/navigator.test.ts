import { describe, expect, it } from 'vitest'
import { projectNavigator } from '../../../../src/indexing/projection/navigator.ts'

const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)'
const SAFARI = 'AppleWebKit/605.1.15 (KHTML, like Gecko)'
const WINDOWS = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64)'
const MAC = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)'
const ANDROID = 'Mozilla/5.0 (Linux; Android 14; SM-S918B)'
const ANDROID_TABLET = 'Mozilla/5.0 (Linux; Android 13; SM-X906C)'
const IPHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X)'
const IPAD = 'Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X)'

const agents: [agent: string, device: string | null, browser: string | null][] = [
  [`${WINDOWS} ${WEBKIT} Chrome/126.0.0.0 Safari/537.36`, 'Desktop', 'Chrome'],
  [`${MAC} ${WEBKIT} Chrome/126.0.0.0 Safari/537.36`, 'Desktop', 'Chrome'],
  [`Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} Chrome/126.0.0.0 Safari/537.36`, 'Desktop', 'Chrome'],
  [`${ANDROID} ${WEBKIT} Chrome/126.0.0.0 Mobile Safari/537.36`, 'Mobile', 'Chrome'],
  [`${ANDROID_TABLET} ${WEBKIT} Chrome/126.0.0.0 Safari/537.36`, 'Tablet', 'Chrome'],
  [`${IPHONE} ${SAFARI} CriOS/126.0.6478.54 Mobile/15E148 Safari/604.1`, 'Mobile', 'Chrome'],
  [`${MAC} ${SAFARI} Version/17.5 Safari/605.1.15`, 'Desktop', 'Safari'],
  [`${IPHONE} ${SAFARI} Version/17.5 Mobile/15E148 Safari/604.1`, 'Mobile', 'Safari'],
  [`${IPAD} ${SAFARI} Version/16.6 Mobile/15E148 Safari/604.1`, 'Tablet', 'Safari'],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:127.0) Gecko/20100101 Firefox/127.0',
    'Desktop',
    'Firefox',
  ],
  ['Mozilla/5.0 (Android 14; Mobile; rv:127.0) Gecko/127.0 Firefox/127.0', 'Mobile', 'Firefox'],
  ['Mozilla/5.0 (Android 13; Tablet; rv:127.0) Gecko/127.0 Firefox/127.0', 'Tablet', 'Firefox'],
  [
    `${WINDOWS} ${WEBKIT} Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0`,
    'Desktop',
    'Microsoft Edge',
  ],
  [
    `${ANDROID} ${WEBKIT} Chrome/126.0.0.0 Mobile Safari/537.36 EdgA/126.0.0.0`,
    'Mobile',
    'Microsoft Edge',
  ],
  [
    `${ANDROID} ${WEBKIT} SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile Safari/537.36`,
    'Mobile',
    'Samsung Internet for Android',
  ],
  [
    `${ANDROID_TABLET} ${WEBKIT} SamsungBrowser/25.0 Chrome/121.0.0.0 Safari/537.36`,
    'Tablet',
    'Samsung Internet for Android',
  ],
  [`${WINDOWS} ${WEBKIT} Chrome/126.0.0.0 Safari/537.36 OPR/112.0.0.0`, 'Desktop', 'Opera'],
  [
    `${IPHONE} ${SAFARI} Version/17.5 Mobile/15E148 Safari/604.1 OPT/4.7.0`,
    'Mobile',
    'Opera Touch',
  ],
  [
    `${ANDROID} ${WEBKIT} Version/4.0 Chrome/112.0.5615.136 Mobile Safari/537.36 XiaoMi/MiuiBrowser/14.3.1-gn`,
    'Mobile',
    'Miui',
  ],
  [
    `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${WEBKIT} Chrome/125.0.0.0 Safari/537.36`,
    'Desktop',
    'Chrome',
  ],
  ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', null, 'Googlebot'],
  ['PadariaBrowser/1.0', null, null],
  ['curl/8.5.0', null, null],
  ['python-requests/2.32.3', null, null],
  ['constructor', null, null],
  ['__proto__/1.0', null, null],
  [' ', null, null],
]

describe('a user agent', () => {
  it.each(agents)(
    'the navigator has the device and browser of %s',
    (user_agent, device, browser) => {
      expect(projectNavigator({ user_agent })).toEqual({
        user_agent,
        referer: null,
        device,
        browser,
        origin: null,
      })
    },
  )

  it('a user agent of 10 KB is kept and not parsed', () => {
    const user_agent = `${WINDOWS} ${WEBKIT} Chrome/126.0.0.0 ${'x'.repeat(10_240)}`
    expect(projectNavigator({ user_agent })).toMatchObject({
      user_agent,
      device: null,
      browser: null,
    })
  })

  it('a user agent with expensive patterns does not slow the parser', () => {
    const nasty = `${'Mozilla/5.0 (('.repeat(200)}${' '.repeat(5000)}Version/${'1.'.repeat(5000)}`
    const startedAt = performance.now()
    for (let length = 100; length < nasty.length; length += 100) {
      projectNavigator({ user_agent: nasty.slice(0, length) })
      projectNavigator({ user_agent: nasty.slice(-length) })
    }
    expect(performance.now() - startedAt).toBeLessThan(2000)
  })
})

describe('a referer', () => {
  it.each([
    ['https://www.instagram.com/p/1', 'instagram.com'],
    ['https://instagram.com', 'instagram.com'],
    ['http://l.facebook.com/l.php?u=https%3A%2F%2Fx.com', 'l.facebook.com'],
    ['https://WWW.Exemplo.COM.BR/', 'exemplo.com.br'],
    ['https://www.exemplo.com.br:8443/a', 'exemplo.com.br'],
    ['https://user:secret@www.exemplo.com.br/', 'exemplo.com.br'],
    ['https://www2.exemplo.com.br/', 'www2.exemplo.com.br'],
    ['https://www.www.exemplo.com.br/', 'www.exemplo.com.br'],
    ['https://loja.www.exemplo.com.br/', 'loja.www.exemplo.com.br'],
    ['https://ação.com.br/', 'xn--ao-siap.com.br'],
    ['http://10.0.0.1/checkout', '10.0.0.1'],
    ['android-app://com.google.android.gm/', 'com.google.android.gm'],
    ['android-app://com.instagram.android', 'com.instagram.android'],
    ['instagram.com', null],
    ['//instagram.com/p/1', null],
    ['/checkout', null],
    ['https://', null],
    ['http://[::1', null],
    ['about:blank', null],
    ['javascript:alert(1)', null],
    ['mailto:rita@exemplo.com.br', null],
    ['file:///home/rita', null],
    ['não é um endereço', null],
  ])('the referer %j has the origin %j', (referer, origin) => {
    expect(projectNavigator({ referer })).toEqual({
      user_agent: null,
      referer,
      device: null,
      browser: null,
      origin,
    })
  })
})

describe('a navigator', () => {
  it.each([
    ['absent', undefined],
    ['null', null],
    ['empty', {}],
    ['without browser and page', { user_agent: null, referer: null }],
    ['of empty texts', { user_agent: '', referer: '' }],
  ])('a navigator that is %s is null', (_name, source) => {
    expect(projectNavigator(source)).toBeNull()
  })

  it('a navigator never contains the IP address', () => {
    const source = { user_agent: 'curl/8.5.0', referer: null, ip: '10.9.8.7' }
    expect(Object.keys(projectNavigator(source) ?? {})).toEqual([
      'user_agent',
      'referer',
      'device',
      'browser',
      'origin',
    ])
  })
})
