/** The bundle `notify-inbox-client.js` of the service, which `make embed` writes. */
export { NotifyInbox } from "./inbox.js";
