from .combining import combine as combine
from .disclosure import Disclosure as Disclosure
from .learning import learn as learn
from .scoring import score as score
