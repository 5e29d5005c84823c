/** Provides the programs that the tests run, or says in one line what to install. */
import { ensureTools } from '../tools.js'

ensureTools()
