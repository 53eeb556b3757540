import { accountApi, call, serverNow } from './api.js'
import { SECTIONS } from './sections.js'
import {
  button,
  dismissToast,
  focusHeading,
  loading,
  problem,
  toast,
  toastFailure,
} from './ui/components.js'
import { closeForms } from './ui/dialogs.js'
import { h, icon } from './ui/dom.js'
import { formatMoment } from './ui/format.js'

const main = document.getElementById('conteudo')
const menu = document.getElementById('partes')
const sessionInfo = document.getElementById('quem')

const NEW_LINK =
  'Entre no site da plataforma e abra o painel de novo: ele cria um link novo, que vale uma vez.'
const OTHER_ACCOUNT =
  'Recarregue esta página para ver essa conta. Para voltar à anterior, abra o painel de novo no site da plataforma.'
const MIN_CHECK_MS = 1_000
const TOKEN = /^#([\w-]{43})$/

/** The session and the sections that it may use; `null` before and after a session. */
let current = null
let endTimer

/** Removes the token from the address, before anything else can read it. */
function takeToken() {
  const token = TOKEN.exec(location.hash)?.[1]
  if (token !== undefined) history.replaceState(null, '', location.pathname)
  return token
}

/** Starts or continues a session. `token`: of a link that has started none yet. */
async function start(token) {
  let unused = token
  try {
    const isUsed = token !== undefined && !(await exchange(token))
    if (!isUsed) unused = undefined
    const session = await readSession()
    if (session === null)
      return showEnd(isUsed ? 'O link não vale mais' : 'Abra o painel por um link')
    open(session)
    if (isUsed) toast('Este link já foi usado. O painel continua na sessão que estava aberta.')
  } catch (error) {
    if (error.status === undefined) throw error
    main.replaceChildren(problem(error.message, () => retry(unused)))
  }
}

function retry(token) {
  main.replaceChildren(loading())
  start(token).catch(reportError)
}

/** Whether the token started a session. */
const exchange = (token) =>
  withoutSession(() => call('POST', '/v1/session', { token }).then(() => true), false)

const readSession = () => withoutSession(() => call('GET', '/v1/session'), null)

async function withoutSession(send, fallback) {
  try {
    return await send()
  } catch (error) {
    if (error.status === 401) return fallback
    throw error
  }
}

function open(session) {
  const sections = SECTIONS.filter(({ capability }) => session.capabilities.includes(capability))
  current = { session, sections, api: accountApi(session.account_id) }
  sessionInfo.replaceChildren(
    h('p', {}, [h('strong', {}, session.account_id), h('span', {}, session.subject)]),
    button('Sair', leave),
  )
  menu.replaceChildren(
    ...sections.map(({ id, name, icon: iconName }) =>
      h('a', { href: `#${id}` }, [icon(iconName), h('span', {}, name)]),
    ),
  )
  menu.hidden = false
  sessionInfo.title = `A sessão vale até ${formatMoment(session.expires_at)}`
  scheduleCheck(session)
  showSection()
}

function scheduleCheck({ expires_at: expiresAt }) {
  clearTimeout(endTimer)
  const remainingMs = Date.parse(expiresAt) - serverNow()
  const check = () => checkSession().catch(reportError)
  endTimer = setTimeout(check, Math.max(remainingMs, MIN_CHECK_MS))
}

/**
 * Whether the session of the page continues. Only the server ends one, since the clock of the
 * browser may be wrong. All tabs share the cookie, so another one may have opened another account.
 */
async function checkSession() {
  if (current === null) return false
  const { session } = current
  const found = await readSession().catch(() => session)
  if (current?.session !== session) return false
  if (found?.account_id === session.account_id) {
    scheduleCheck(found)
    return true
  }
  if (found === null) showEnd('Sua sessão terminou')
  else showEnd('Outra conta foi aberta neste navegador', OTHER_ACCOUNT)
  return false
}

/** Shows the section in the address, or the first one. */
function showSection(argument, isMove = false) {
  const id = location.hash.slice(1)
  const section = current.sections.find((one) => one.id === id) ?? current.sections[0]
  document.title = `${section.name} · Painel de integrações`
  for (const link of menu.children) {
    if (link.hash === `#${section.id}`) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
  dismissToast()
  closeForms()
  const { api, session } = current
  const elements = section.render(api, { show, argument, session })
  main.replaceChildren(h('section', { class: 'section' }, elements))
  scrollTo(0, 0)
  if (isMove) focusHeading()
}

function show(id, argument) {
  history.pushState(null, '', `#${id}`)
  showSection(argument, true)
}

async function leave() {
  try {
    if (!(await checkSession())) return // It would end the session of the other account.
    await withoutSession(() => call('DELETE', '/v1/session'), null)
    showEnd('Você saiu do painel')
  } catch (error) {
    toastFailure(error)
  }
}

function showEnd(title, next = NEW_LINK) {
  current = null
  clearTimeout(endTimer)
  dismissToast() // It may say that the session continues.
  closeForms()
  menu.hidden = true
  sessionInfo.replaceChildren()
  document.title = `${title} · Painel de integrações`
  const heading = h('h1', { tabindex: '-1' }, title)
  main.replaceChildren(h('div', { class: 'ended-page' }, [heading, h('p', {}, next)]))
  heading.focus()
}

document.addEventListener('session-ended', () => showEnd('Sua sessão terminou'))
document.addEventListener('session-doubtful', () => checkSession().catch(reportError))
menu.addEventListener('click', ({ target }) => {
  // The address stays, so that the browser reports no change.
  if (target.closest('a')?.hash === location.hash) showSection(undefined, true)
})
addEventListener('hashchange', () => {
  // A new link that is opened in this tab changes nothing but the fragment.
  if (TOKEN.test(location.hash)) start(takeToken()).catch(reportError)
  else if (current && location.hash !== '#conteudo') showSection(undefined, true)
})
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault()
  main.focus()
})

start(takeToken()).catch(reportError)
