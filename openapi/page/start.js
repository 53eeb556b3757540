import { addCopyButtons } from './copy.js'
import { closeMenuOnChoice } from './menu.js'
import { startSearch } from './search.js'
import { startForms } from './try.js'

addCopyButtons()
closeMenuOnChoice()
startSearch()
startForms()
