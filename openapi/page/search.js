const MAX_RESULTS = 20
/** Characters of text around the first match. */
const BEFORE = 40
const AFTER = 100

/** Searches titles and texts of all sections, without case and accents. */
export function startSearch() {
  const search = document.querySelector('search')
  const input = search.querySelector('input')
  const panel = search.querySelector('.results')
  const list = panel.querySelector('ul')
  const status = panel.querySelector('[role=status]')
  search.hidden = false
  let index

  function close() {
    panel.hidden = true
  }

  function update() {
    index ??= readSections()
    const words = plain(input.value).split(/\s+/).filter(Boolean)
    panel.hidden = words.length === 0
    if (words.length === 0) return
    const found = findSections(index, words)
    status.textContent = countText(found.length)
    list.replaceChildren(...found.slice(0, MAX_RESULTS).map((one) => resultItem(one, words)))
  }

  input.addEventListener('input', update)
  input.addEventListener('focus', update)
  search.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') close()
    if (event.key === 'Enter' && event.target === input) list.querySelector('a')?.click()
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const stops = [input, ...list.querySelectorAll('a')]
    stops[stops.indexOf(document.activeElement) + step]?.focus()
  })
  list.addEventListener('click', close)
  document.addEventListener('click', (event) => {
    if (!search.contains(event.target)) close()
  })
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target.closest('input, textarea, select')
    if (event.key !== '/' || isTyping) return
    event.preventDefault()
    input.focus()
  })
}

/** The text without case and accents. Combined characters keep the length of the text. */
function plain(text) {
  return [...text.normalize('NFC')]
    .map((character) => character.normalize('NFD')[0].toLowerCase())
    .join('')
}

function readSections() {
  return [...document.querySelectorAll('main section')].map((section) => {
    const title = section.firstElementChild.textContent
    const text = [...section.children]
      .slice(1)
      .filter(({ localName }) => localName !== 'section')
      .map(textOf)
      .join(' ')
      .replaceAll(/\s+/g, ' ')
      .normalize('NFC')
    const parent = section.parentElement.closest('section')?.firstElementChild.textContent
    return { id: section.id, title, parent, text, plainTitle: plain(title), plainText: plain(text) }
  })
}

/** The text of a part without its buttons and forms, which are the same in every section. */
function textOf(part) {
  if (part.matches('.try')) return ''
  const text = part.cloneNode(true)
  for (const control of text.querySelectorAll('.copy, .try')) control.remove()
  return text.textContent
}

/** The sections with every word: those with a word in the title first. */
function findSections(sections, words) {
  const found = sections.filter(({ plainTitle, plainText }) =>
    words.every((word) => plainTitle.includes(word) || plainText.includes(word)),
  )
  const inTitle = ({ plainTitle }) => words.some((word) => plainTitle.includes(word))
  return [...found.filter(inTitle), ...found.filter((section) => !inTitle(section))]
}

function countText(count) {
  if (count === 0) return 'Nada encontrado'
  if (count > MAX_RESULTS) return `${MAX_RESULTS} de ${count} resultados`
  return count === 1 ? '1 resultado' : `${count} resultados`
}

function resultItem({ id, title, parent, text, plainText }, words) {
  const link = document.createElement('a')
  link.href = `#${id}`
  const name = document.createElement('strong')
  name.textContent = parent === undefined ? title : `${parent} › ${title}`
  link.append(name, snippet(text, plainText, words))
  const item = document.createElement('li')
  item.append(link)
  return item
}

function snippet(text, plainText, words) {
  const line = document.createElement('span')
  const word = words.find((one) => plainText.includes(one))
  const at = word === undefined ? 0 : plainText.indexOf(word)
  const start = Math.max(0, at - BEFORE)
  const mark = document.createElement('mark')
  mark.textContent = text.slice(at, at + (word?.length ?? 0))
  line.append(
    (start > 0 ? '…' : '') + text.slice(start, at),
    mark,
    text.slice(at + mark.textContent.length, at + AFTER) + (text.length > at + AFTER ? '…' : ''),
  )
  return line
}
