/** Shows the forms that call an operation. The key stays in their fields and is stored nowhere. */
export function startForms() {
  for (const form of document.querySelectorAll('.try form')) {
    form.parentElement.hidden = false
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      shareKey(form.elements.key.value)
      return send(form)
    })
  }
}

function shareKey(key) {
  for (const field of document.querySelectorAll('.try input[name=key]')) field.value = key
}

async function send(form) {
  const answer = form.querySelector('.answer')
  const problem = headerProblem(form)
  if (problem !== undefined) {
    answer.textContent = problem
    return
  }
  answer.textContent = 'Enviando…'
  const { method, path } = form.dataset
  try {
    const response = await fetch(addressOf(form, path), { method, ...contentOf(form) })
    answer.replaceChildren(...(await describe(response)))
  } catch {
    answer.textContent = 'O serviço não respondeu. Confira a conexão e tente de novo.'
  }
}

/** A header that `fetch` would refuse, as if the service had not responded. */
function headerProblem(form) {
  const fields = [['Chave', form.elements.key.value.trim()], ...valuesIn(form, 'header')]
  for (const [name, value] of fields) {
    const [character] = /[^\x20-\x7e]/u.exec(value) ?? []
    if (character !== undefined) {
      return `O campo ${name} tem “${character}”, que um cabeçalho não leva. Cole o valor inteiro.`
    }
  }
}

/** The fields with a value, of one place of the request. */
function valuesIn(form, place) {
  const fields = [...form.querySelectorAll(`[data-in=${place}]`)]
  return fields.map(({ name, value }) => [name, value.trim()]).filter(([, value]) => value !== '')
}

function addressOf(form, path) {
  const names = new Map(valuesIn(form, 'path'))
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(names.get(name)))
  const query = String(new URLSearchParams(valuesIn(form, 'query')))
  return query === '' ? filled : `${filled}?${query}`
}

function contentOf(form) {
  const { key, body } = form.elements
  const headers = { Authorization: `Bearer ${key.value.trim()}` }
  for (const [name, value] of valuesIn(form, 'header')) headers[name] = value
  if (body === undefined) return { headers }
  return { headers: { ...headers, 'Content-Type': body.dataset.type }, body: body.value }
}

async function describe(response) {
  const status = document.createElement('p')
  status.textContent = `${response.status} ${response.statusText}`
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n')
  return [status, block('Cabeçalhos', headers), block('Corpo', formatted(await response.text()))]
}

function formatted(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function block(label, text) {
  const pre = document.createElement('pre')
  pre.tabIndex = 0
  pre.role = 'group'
  pre.ariaLabel = label
  pre.textContent = text
  return pre
}
