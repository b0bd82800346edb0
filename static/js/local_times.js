// Pages say times in UTC; this script says them by the reader's clock.

import { localTime } from "./page.js";

for (const element of document.querySelectorAll("time[datetime]")) {
  const time = new Date(element.dateTime);
  if (!Number.isNaN(time.getTime())) element.textContent = localTime(time);
}
